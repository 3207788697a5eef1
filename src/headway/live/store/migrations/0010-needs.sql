-- What a child needs of its parent has had more than two answers for long (model.states.Needs).
ALTER TABLE arcs RENAME COLUMN weak TO needs;
