"""Line."""
