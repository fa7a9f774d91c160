"""What will burn the deployment, said before it burns."""
