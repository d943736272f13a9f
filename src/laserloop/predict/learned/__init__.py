"""What is learned from episodes besides the paper's networks, each ready to predict without PyTorch."""
