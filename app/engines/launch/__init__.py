"""Engines that Temper starts itself, each as a process or a container, and watches until they end."""
