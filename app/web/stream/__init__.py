"""Events as server-sent events: one reader and one rendering for all viewers of a run."""
