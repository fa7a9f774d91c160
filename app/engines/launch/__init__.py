"""Engines that Temper starts itself: a process or a container each, watched until it ends."""
