"""The paper's claims."""
