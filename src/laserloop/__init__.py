"""laserloop: keep the peak temperature of a moving laser inside its process window."""
