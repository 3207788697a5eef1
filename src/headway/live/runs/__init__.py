"""One `headway run`: reads the workflow, selects jobs, submits them, writes what the run is asked to leave behind."""
