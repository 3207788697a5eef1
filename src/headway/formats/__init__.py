"""Text to Workflow and back: `parse(path, world, arguments)` and `render(workflow)` in a module for each format."""
