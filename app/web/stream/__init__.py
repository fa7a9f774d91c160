"""Events as server-sent messages: one reader and one rendering for all who watch."""
