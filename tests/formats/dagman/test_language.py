"""Each keyword of DAGMan's language: a test in which it changes the dag, or what `headway show --json` says."""

from __future__ import annotations

from typing import Any

import pytest

from headway.formats.registry import FORMATS
from headway.live.answers.show import report
from headway.model.errors import HeadwayError, InputError
from headway.model.flatten import flatten
from headway.model.job import Job, Script, Tolerance
from headway.model.workflow import Workflow
from tests.texts import Texts

TWO = "JOB A a.sub\nJOB B b.sub\n"


def read(text: str, **files: str) -> Workflow:
    """A DAG, and the files it names: `s_dag` for s.dag."""
    others = {name.replace("_", "."): content for name, content in files.items()}
    return FORMATS["dagman"].parse("x.dag", Texts({"x.dag": text, "a.sub": "queue", "b.sub": "queue", **others}))


def job(workflow: Workflow, name: str) -> Job:
    group = workflow.groups.get(name) or next(group for group in workflow.special() if group.name == name)
    return group.jobs[0]


def order(workflow: Workflow) -> set[tuple[str, str]]:
    """The arcs between jobs, seen through milestones."""
    dag = flatten(workflow).dag
    return {(dag.names[node], dag.names[child]) for node in dag.jobs() for child in dag.job_children(node)}


def says(workflow: Workflow) -> dict[str, Any]:
    answer, _ = report(workflow)
    return answer


def features(text: str, **files: str) -> dict[str, Any]:
    found: dict[str, Any] = says(read(text, **files))["features"]
    return found


def error(text: str, **files: str) -> InputError:
    with pytest.raises(HeadwayError) as raised:
        flatten(read(text, **files))
    assert isinstance(raised.value, InputError)
    return raised.value


# --- nodes -----------------------------------------------------------------------------------------------------------


def test_job_declares_a_node_and_its_submit_file() -> None:
    workflow = read("JOB A a.sub\n")
    assert says(workflow)["jobs"] == 1
    assert job(workflow, "A").description == "a.sub"


def test_a_missing_submit_file_is_a_warning() -> None:
    assert "zz.sub" in says(read("JOB A zz.sub\n"))["warnings"][0]
    assert not says(read("JOB A a.sub\n"))["warnings"]


def test_many_missing_submit_files_are_counted() -> None:
    warnings = says(read("".join(f"JOB N{i} n{i}.sub\n" for i in range(100))))["warnings"]
    assert len(warnings) == 6 and warnings[-1].startswith("95 more")


def test_submit_files_are_looked_for_in_the_nodes_directory() -> None:
    assert not says(read("JOB A c.sub DIR d\n", **{"d/c_sub": "queue"}))["warnings"]


def test_final_runs_outside_the_order() -> None:
    answer = says(read(TWO + "FINAL F a.sub\n"))
    assert answer["jobs"] == 3 and answer["special"] == {"F": "final"} and answer["levels"] == 1


def test_there_is_one_final_node() -> None:
    assert "at most one FINAL" in str(error("FINAL F a.sub\nFINAL G a.sub\n"))


def test_provisioner_and_service_are_told_apart() -> None:
    answer = says(read(TWO + "PROVISIONER P a.sub\nSERVICE S a.sub\nSERVICE T a.sub\n"))
    assert answer["special"] == {"P": "provisioner", "S": "service", "T": "service"}
    assert answer["jobs"] == 5


@pytest.mark.parametrize("kind", ["FINAL", "PROVISIONER", "SERVICE"])
def test_special_nodes_have_no_dependencies(kind: str) -> None:
    found = error(f"{TWO}{kind} F a.sub\nPARENT A CHILD F\n")
    assert found.line == 4 and "can not have dependencies" in str(found)


@pytest.mark.parametrize("line", ["RETRY F 3", "PRIORITY F 3", "CATEGORY F c", "ABORT-DAG-ON F 3"])
def test_some_commands_are_not_for_final(line: str) -> None:
    assert error(f"FINAL F a.sub\n{line}\n").line == 2


def test_subdag_external_is_a_node() -> None:
    workflow = read("SUBDAG EXTERNAL A inner.dag\n")
    assert job(workflow, "A").rules.subdag == "inner.dag"
    assert features("SUBDAG EXTERNAL A inner.dag\n") == {"subdag": 1}


def test_subdag_needs_external() -> None:
    assert "EXTERNAL" in str(error("SUBDAG A inner.dag\n"))


def test_dir_noop_and_done_come_in_any_order_and_more_than_once() -> None:
    found = job(read("JOB A a.sub DONE DIR one NOOP DIR two NOOP\n"), "A")
    assert (found.setting.directory, found.rules.noop, found.rules.done) == ("two", True, True)


def test_done_is_ignored_on_final_with_a_warning() -> None:
    workflow = read("FINAL F a.sub DONE\n")
    assert not job(workflow, "F").rules.done and "cannot be DONE" in says(workflow)["warnings"][0]


def test_a_description_can_stand_in_braces() -> None:
    workflow = read("JOB A {\n  executable = /bin/echo\n\n  # no\n  queue 2\n} DIR d NOOP\nJOB B b.sub\n")
    assert workflow.descriptions[job(workflow, "A").description] == "executable = /bin/echo\nqueue 2"
    assert job(workflow, "A").setting.directory == "d" and job(workflow, "A").rules.noop


def test_a_description_can_stand_between_tags() -> None:
    workflow = read("JOB A @=END\nexecutable = x\n}\n@END DONE\n")
    assert workflow.descriptions[job(workflow, "A").description] == "executable = x\n}"
    assert job(workflow, "A").rules.done


def test_comments_of_either_kind_are_left_out_of_a_description() -> None:
    workflow = read("JOB A {\n# no\n  // nor this\nqueue\n}\n")
    assert workflow.descriptions[job(workflow, "A").description] == "queue"


def test_only_a_blank_sets_the_options_apart_from_the_closing_word() -> None:
    assert "not closed" in str(error("JOB A {\nqueue\n}\tNOOP\n"))


def test_a_tag_that_is_no_word_is_an_error() -> None:
    assert "closing word" in str(error("JOB A @=\nqueue\n@\n"))


def test_words_behind_a_submit_description_are_ignored_with_a_warning() -> None:
    workflow = read("SUBMIT-DESCRIPTION d {\nqueue\n} DIR x\nJOB A d\n")
    assert workflow.descriptions == {"d": "queue"} and "is ignored" in says(workflow)["warnings"][0]


def test_a_description_in_one_line_is_an_error() -> None:
    assert "not closed" in str(error("JOB A { executable = x }\n"))


def test_an_inline_description_is_passed_over_when_commands_wait_for_the_second_pass() -> None:
    workflow = read("RETRY B 2\nJOB A {\nPARENT = 1\nqueue\n}\nJOB B b.sub\nPARENT A CHILD B\n")
    assert order(workflow) == {("A", "B")} and job(workflow, "B").rules.retries == 2


def test_submit_description_is_shared_by_name() -> None:
    workflow = read("SUBMIT-DESCRIPTION d {\nexecutable = x\n}\nJOB A d\nJOB B d\n")
    assert workflow.descriptions == {"d": "executable = x"}
    assert not says(workflow)["warnings"]


def test_a_submit_description_needs_a_body() -> None:
    assert error("SUBMIT-DESCRIPTION d\n").line == 1
    assert error("SUBMIT-DESCRIPTION d {\nqueue\n").line == 1


def test_a_job_of_a_submitted_dag_is_refused_but_a_final_may_be_one() -> None:
    assert "SUBDAG" in str(error("JOB A inner.dag.condor.sub\n"))
    assert says(read("FINAL A inner.dag.condor.sub\n"))["jobs"] == 1


@pytest.mark.parametrize("name", ["parent", "CHILD", "All_Nodes", "a+b"])
def test_some_names_are_not_for_nodes(name: str) -> None:
    assert error(f"JOB {name} a.sub\n").line == 1


def test_names_are_case_sensitive_and_may_hold_any_byte() -> None:
    assert says(read("JOB a a.sub\nJOB A a.sub\nJOB \udcff.é a.sub\n"))["jobs"] == 3


def test_quotes_stay_in_names_and_go_from_file_names() -> None:
    workflow = read('JOB "A B" \'a b.sub\' DIR "d e"\n')
    found = job(workflow, '"A B"')
    assert (found.description, found.setting.directory) == ("a b.sub", "d e")


# --- arcs ------------------------------------------------------------------------------------------------------------


def test_parent_child_is_every_pair() -> None:
    text = "".join(f"JOB {name} a.sub\n" for name in "ABCDEF") + "PARENT A B CHILD C D E\n"
    workflow = read(text)
    assert order(workflow) == {(parent, child) for parent in "AB" for child in "CDE"}
    answer = says(workflow)
    assert (answer["jobs"], answer["arcs"], answer["groups"], answer["milestones"]) == (6, 6, 6, 1)


def test_doubles_collapse() -> None:
    assert says(read(TWO + "PARENT A A CHILD B B\nPARENT A CHILD B\n"))["arcs"] == 1


def test_child_may_be_said_twice() -> None:
    assert order(read(TWO + "JOB C a.sub\nPARENT A CHILD B CHILD C\n")) == {("A", "B"), ("A", "C")}


def test_commands_may_come_before_the_nodes_they_name() -> None:
    text = 'PARENT A CHILD B\nVARS A x="1"\nRETRY ALL_NODES 2\nJOB A a.sub\nJOB B b.sub\nVARS A x="2"\n'
    workflow = read(text)
    assert order(workflow) == {("A", "B")}
    assert job(workflow, "A").variables == (("x", "2"),)
    assert job(workflow, "B").rules.retries == 2


def test_weak_arcs_are_counted_and_a_strong_one_wins() -> None:
    assert features(TWO + "WEAK PARENT A CHILD B\n")["weak_arcs"] == 1
    assert "weak_arcs" not in features(TWO + "WEAK PARENT A CHILD B\nPARENT A CHILD B\n")
    assert "weak_arcs" not in features(TWO + "PARENT A CHILD B\nWEAK PARENT A CHILD B\n")


@pytest.mark.parametrize("line", ["PARENT A B", "PARENT CHILD B", "PARENT A CHILD", "WEAK A", "PARENT A CHILD A"])
def test_incomplete_arcs_are_errors(line: str) -> None:
    assert error(f"{TWO}{line}\n").line == 3


def test_an_unknown_name_is_told_with_the_one_that_was_meant() -> None:
    found = error("JOB Analyse a.sub\nPARENT Analyse CHILD Analyze\n")
    assert found.line == 2 and 'did you mean "Analyse"' in str(found)


def test_a_cycle_is_told_as_the_cycle() -> None:
    text = TWO + "JOB C a.sub\nPARENT A CHILD B\nPARENT B CHILD C\nPARENT C CHILD A\n"
    found = error(text)
    assert found.line == 6 and "A -> B -> C -> A" in str(found)


# --- composition -----------------------------------------------------------------------------------------------------


def test_a_splice_is_taken_in_with_its_name_before_its_nodes() -> None:
    workflow = read("JOB X a.sub\nSPLICE S s.dag\nJOB Y a.sub\nPARENT X CHILD S\nPARENT S CHILD Y\n", s_dag=TWO)
    assert [group.name for group in workflow.groups][:4] == ["X", "S+A", "S+B", "Y"]
    assert order(workflow) == {("X", "S+A"), ("X", "S+B"), ("S+A", "Y"), ("S+B", "Y")}


def test_splices_nest() -> None:
    workflow = read("SPLICE a one.dag\n", one_dag="SPLICE b two.dag\n", two_dag="JOB X a.sub\n")
    assert [group.name for group in workflow.groups] == ["a+b+X"]


def test_a_splices_first_and_last_nodes_stand_for_it() -> None:
    inner = TWO + "PARENT A CHILD B\n"
    workflow = read("SPLICE S s.dag\nSPLICE T s.dag\nPARENT S CHILD T\n", s_dag=inner)
    assert order(workflow) == {("S+A", "S+B"), ("S+B", "T+A"), ("T+A", "T+B")}


def test_categories_of_a_splice_are_its_own_unless_global() -> None:
    inner = TWO + "CATEGORY A c\nCATEGORY B +g\nMAXJOBS c 1\nMAXJOBS +g 2\n"
    workflow = read("SPLICE S s.dag\n", s_dag=inner)
    assert workflow.throttles == {"S+c": 1, "+g": 2}
    assert job(workflow, "S+A").rules.category == "S+c" and job(workflow, "S+B").rules.category == "+g"


def test_a_splices_dir_comes_before_its_nodes_dirs() -> None:
    workflow = read("SPLICE S s.dag DIR d\n", **{"d/s_dag": "JOB A a.sub\nJOB B a.sub DIR e\nJOB C a.sub DIR /f\n"})
    assert [group.jobs[0].setting.directory for group in workflow.groups] == ["d", "d/e", "/f"]


def test_dirs_of_nested_splices_add_up() -> None:
    files = {"d/mid_dag": "JOB M a.sub\nSPLICE T low.dag DIR e\n", "d/e/low_dag": "JOB L a.sub\n"}
    workflow = read("SPLICE S mid.dag DIR d\n", **files)
    assert [(group.name, group.jobs[0].setting.directory) for group in workflow.groups] == [
        ("S+M", "d"),
        ("S+T+L", "d/e"),
    ]


def test_a_splice_in_a_directory_names_its_files_as_the_outermost_dag_would() -> None:
    workflow = read("SPLICE S d/mid.dag\n", **{"d/mid_dag": "SPLICE T d/low.dag\n", "d/low_dag": "JOB L a.sub\n"})
    assert [group.name for group in workflow.groups] == ["S+T+L"]


def test_files_are_looked_for_beside_the_dag_and_then_where_headway_was_called() -> None:
    files = Texts({"d/x.dag": "SPLICE S near.dag\nSPLICE T d/far.dag\n", "d/near.dag": TWO, "d/far.dag": TWO})
    assert says(FORMATS["dagman"].parse("d/x.dag", files))["jobs"] == 4


def test_a_splice_is_not_looked_for_outside_its_dir() -> None:
    assert error("SPLICE S s.dag DIR nowhere\n", s_dag=TWO).line == 1


def test_a_splice_keeps_its_own_submit_descriptions() -> None:
    workflow = read(
        "SUBMIT-DESCRIPTION d {\nexecutable = outer\n}\nJOB A d\nSPLICE S s.dag\n",
        s_dag="SUBMIT-DESCRIPTION d {\nexecutable = inner\n}\nJOB A d\nJOB B {\nqueue\n}\n",
    )
    assert workflow.descriptions[job(workflow, "S+A").description] == "executable = inner"
    assert workflow.descriptions[job(workflow, "A").description] == "executable = outer"
    assert workflow.descriptions[job(workflow, "S+B").description] == "queue"


def test_a_splice_has_no_final_node() -> None:
    found = error("SPLICE S s.dag\n", s_dag="JOB A a.sub\nFINAL F a.sub\n")
    assert (found.path, found.line) == ("s.dag", 2)


def test_a_spliced_node_cannot_be_modified_from_outside() -> None:
    assert error('SPLICE S s.dag\nVARS S+A x="1"\n', s_dag=TWO).line == 2
    assert error("SPLICE S s.dag\nJOB X a.sub\nPARENT S+A CHILD X\n", s_dag=TWO).line == 3
    assert "splice" in str(error("SPLICE S s.dag\nRETRY S 3\n", s_dag=TWO))


@pytest.mark.parametrize(
    "line", ["SPLICE S x.dag", "SPLICE S ./x.dag", "SPLICE S x.dag DIR .", "SPLICE S x.dag DIR d/.."]
)
def test_a_splice_that_takes_itself_in_is_an_error(line: str) -> None:
    found = error(f"{line}\n", **{"d/../x_dag": "SPLICE S x.dag\n", "./x_dag": f"{line}\n"})
    assert found.line == 1 and "takes itself in" in str(found)


def test_a_missing_splice_is_an_error_at_its_line() -> None:
    assert error(f"{TWO}SPLICE S nowhere.dag\n").line == 3


def test_include_is_textual_and_its_nodes_exist_afterwards() -> None:
    workflow = read("JOB A a.sub\nINCLUDE more.txt\nPARENT A CHILD B\n", more_txt="JOB B b.sub\nRETRY A 4\n")
    assert order(workflow) == {("A", "B")} and job(workflow, "A").rules.retries == 4
    assert error("JOB A a.sub\nPARENT A CHILD B\nINCLUDE more.txt\n", more_txt="JOB B b.sub\n").line == 2


def test_an_include_that_includes_itself_is_an_error() -> None:
    assert error("INCLUDE more.txt\n", more_txt="INCLUDE x.dag\n").path == "more.txt"


PINNED_OUT = TWO + "PIN_OUT A 1\nPIN_OUT B 2\n"
PINNED_IN = TWO + "PIN_IN A 1\nPIN_IN B 2\n"


def test_connect_joins_pins_by_number() -> None:
    text = "CONNECT S T\nSPLICE S s.dag\nSPLICE T t.dag\n"
    workflow = read(text, s_dag=PINNED_OUT, t_dag=PINNED_IN)
    assert order(workflow) == {("S+A", "T+A"), ("S+B", "T+B")}


def test_several_nodes_may_share_a_pin_and_one_may_have_several() -> None:
    out = TWO + "PIN_OUT A 1\nPIN_OUT B 1\nPIN_OUT B 2\n"
    workflow = read("SPLICE S s.dag\nSPLICE T t.dag\nCONNECT S T\n", s_dag=out, t_dag=PINNED_IN)
    assert order(workflow) == {("S+A", "T+A"), ("S+B", "T+A"), ("S+B", "T+B")}
    assert says(workflow)["jobs"] == 4


@pytest.mark.parametrize("text", ["CONNECT S T\n", "PIN_IN A 1\nPIN_OUT A 1\n"])
def test_pins_and_connections_alone_are_no_dag(text: str) -> None:
    assert error(text).line == 1


@pytest.mark.parametrize(
    ("out", "into"),
    [
        (TWO, PINNED_IN),
        (PINNED_OUT, TWO + "PIN_IN A 1\nPIN_IN B 1\n"),
        (PINNED_OUT, PINNED_IN + "JOB Orphan a.sub\n"),
        (PINNED_OUT, TWO),
        (TWO + "PIN_OUT A 1\n", PINNED_IN),
        (TWO + "PIN_OUT A 1\nPIN_OUT B 3\n", PINNED_IN),
        (TWO + "PIN_OUT A 1\n", TWO + "PIN_IN A 1\n"),
    ],
)
def test_pins_that_do_not_fit_are_errors(out: str, into: str) -> None:
    assert error("SPLICE S s.dag\nSPLICE T t.dag\nCONNECT S T\n", s_dag=out, t_dag=into).line == 3


def test_pins_name_nodes_and_count_from_one() -> None:
    assert error("PIN_IN A 1\n").line == 1
    assert error("JOB A a.sub\nPIN_OUT A 0\n").line == 2


# --- modifiers -------------------------------------------------------------------------------------------------------


def test_scripts_keep_the_rest_of_the_line() -> None:
    text = TWO + (
        'SCRIPT PRE A pre.sh  $JOB "x  y"\nSCRIPT DEFER 4 60 DEBUG log STDERR POST A post.sh\nscript hold B h\n'
    )
    workflow = read(text)
    assert job(workflow, "A").rules.pre == Script('pre.sh  $JOB "x  y"')
    assert job(workflow, "A").rules.post == Script("post.sh", (4, 60), ("log", "STDERR"))
    assert job(workflow, "B").rules.hold == Script("h")
    assert {"pre": 1, "post": 1, "hold": 1}.items() <= says(workflow)["features"].items()


@pytest.mark.parametrize(
    "line", ["SCRIPT", "SCRIPT PRE", "SCRIPT PRE A", "SCRIPT DURING A x", "SCRIPT DEFER 1 PRE A x"]
)
def test_incomplete_scripts_are_errors(line: str) -> None:
    assert error(f"{TWO}{line}\n").line == 3


def test_retry_and_unless_exit() -> None:
    workflow = read(TWO + "RETRY A 3 UNLESS_EXIT 2\nRETRY B 1x\n")
    assert (job(workflow, "A").rules.retries, job(workflow, "A").rules.unless_exit) == (3, 2)
    assert job(workflow, "B").rules.retries == 1  # what follows the digits is ignored
    assert says(workflow)["features"]["retries"] == 2
    assert error(TWO + "RETRY A -1\n").line == 3
    assert error(TWO + "RETRY A 99999999999\n").line == 3
    assert error(TWO + "RETRY A three\n").line == 3


def test_the_last_line_on_a_thing_wins() -> None:
    assert job(read(TWO + "RETRY A 3\nRETRY A 5 UNLESS-EXIT 1\nRETRY A 4\n"), "A").rules.unless_exit is None


def test_abort_dag_on() -> None:
    assert job(read(TWO + "Abort_Dag-On A 3 RETURN 1\n"), "A").rules.abort_on == (3, 1)
    assert job(read(TWO + "ABORT-DAG-ON A 3\n"), "A").rules.abort_on == (3, None)
    assert error(TWO + "ABORT-DAG-ON A 3 RETURN 256\n").line == 3


def test_vars_are_sorted_and_the_last_one_counts() -> None:
    text = TWO + 'VARS A z="1" a = \'x \\\'y\' bare=2 +Attr="\\"q\\\\"\nVARS A z="3"\n'
    assert job(read(text), "A").variables == (("My.Attr", '"q\\'), ("a", "x 'y"), ("bare", "2"), ("z", "3"))


def test_vars_prepend_and_append() -> None:
    found = job(read(TWO + 'VARS A APPEND x="1"\nVARS A PREPEND y="2"\nVARS A prepend="3"\n'), "A")
    assert (found.variables, found.overrides) == ((("prepend", "3"), ("y", "2")), (("x", "1"),))


@pytest.mark.parametrize("gap", [" ", "\t", " \t "])
def test_any_blank_sets_append_apart(gap: str) -> None:
    assert job(read(f'{TWO}VARS A{gap}APPEND{gap}x{gap}={gap}"1"\n'), "A").overrides == (("x", "1"),)


def test_vars_may_hold_any_sign() -> None:
    text = TWO + 'VARS A s="!@#$%^&*()_-=+[]{}?" q="it\'s" t="a\tb" e="" My.X="\\\\\\"" u="1"v="2"\n'
    assert dict(job(read(text), "A").variables) == {
        "s": "!@#$%^&*()_-=+[]{}?",
        "q": "it's",
        "t": "a\tb",
        "e": "",
        "My.X": '\\"',
        "u": "1v=2",
    }


@pytest.mark.parametrize("rest", ["", " x", ' x="1', ' queue="1"', ' ="1"', " x=", ' "x"="1"'])
def test_bad_vars_are_errors(rest: str) -> None:
    assert error(f"{TWO}VARS A{rest}\n").line == 3


def test_priority_category_and_maxjobs() -> None:
    workflow = read(TWO + "PRIORITY A -5\nCATEGORY A big\nMAXJOBS big 2\n")
    assert (job(workflow, "A").rules.priority, job(workflow, "A").rules.category) == (-5, "big")
    assert says(workflow)["features"]["throttles"] == {"big": 2}
    assert error(TWO + "MAXJOBS big -1\n").line == 3
    assert error("PROVISIONER P a.sub\nPRIORITY P 1\n").line == 2


def test_pre_skip() -> None:
    workflow = read(TWO + "PRE_SKIP A 2\nPRE_SKIP B 0\n")
    assert job(workflow, "A").rules.pre_skip == 2
    assert "PRE_SKIP" in says(workflow)["warnings"][0]
    assert error(TWO + "PRE_SKIP A 256\n").line == 3


def test_tolerance() -> None:
    workflow = read(TWO + "TOLERANCE A 20% FAIL-FAST\nTOLERANCE B 3\n")
    assert job(workflow, "A").rules.tolerance == Tolerance(20, True, True)
    assert job(workflow, "B").rules.tolerance == Tolerance(3)
    assert error(TWO + "TOLERANCE A 3 SOON\n").line == 3


def test_done() -> None:
    assert features(TWO + "DONE A\n")["done"] == 1
    assert error(TWO + "DONE ALL_NODES\n").line == 3


def test_save_point_file() -> None:
    assert job(read(TWO + "SAVE_POINT_FILE A here\n"), "A").rules.save_point == "here"
    assert job(read(TWO + "SAVE_POINT_FILE A\n"), "A").rules.save_point == "A-x.dag.save"
    assert error(TWO + "SAVE_POINT_FILE ALL_NODES\n").line == 3
    assert error("FINAL F a.sub\nSAVE_POINT_FILE F\n").line == 2


def test_all_nodes_are_those_of_the_file() -> None:
    text = "SPLICE S s.dag\nRETRY All_Nodes 3\nJOB A a.sub\nFINAL F a.sub\n"
    workflow = read(text, s_dag=TWO)
    assert [group.jobs[0].rules.retries for group in workflow.groups] == [0, 0, 3]
    assert workflow.final is not None and workflow.final.jobs[0].rules.retries == 0


@pytest.mark.parametrize(
    "line", ["RETRY Z 1", 'VARS Z x="1"', "PRIORITY Z 1", "CATEGORY Z c", "SCRIPT PRE Z x", "DONE Z", "PRE_SKIP Z 1"]
)
def test_a_modifier_of_an_unknown_node_is_an_error(line: str) -> None:
    found = error(f"{TWO}{line}\n")
    assert found.line == 3 and '"Z" is not declared' in str(found)


# --- the whole DAG ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("CONFIG x.conf", "config", "x.conf"),
        ('DOT "my dag.dot" UPDATE INCLUDE head', "dot", ("my dag.dot", "UPDATE", "INCLUDE", "head")),
        ("NODE_STATUS_FILE s 30 ALWAYS-UPDATE", "status_file", ("s", 30, True)),
        ("NODE_STATUS_FILE s", "status_file", ("s", 60, False)),
        ("JOBSTATE_LOG j", "jobstate_log", "j"),
        ('SET_JOB_ATTR Who = "me = you"', "job_attributes", (("Who", '"me = you"'),)),
        ("ENV GET A B,C", "environment_get", ("A", "B", "C")),
        ("env set A=1;B=2 3", "environment_set", ("A=1", "B=2 3")),
    ],
)
def test_settings_of_the_dag_are_told(line: str, key: str, value: object) -> None:
    assert features(f"{TWO}{line}\n")["settings"] == {key: value}


@pytest.mark.parametrize(
    "line",
    [
        *(
            "CONFIG",
            "CONFIG a b",
            "CONFIG a\nCONFIG b",
            "DOT",
            "DOT a SOON",
            "NODE_STATUS_FILE",
            "NODE_STATUS_FILE a x",
        ),
        *("JOBSTATE_LOG", "SET_JOB_ATTR x", "ENV", "ENV PUT x=1", "MAXJOBS a", "INCLUDE", "CONNECT a", "PIN_IN A"),
    ],
)
def test_incomplete_settings_are_errors(line: str) -> None:
    error(f"{TWO}{line}\n")


def test_reject_stops_everything() -> None:
    assert "REJECT" in str(error(TWO + "REJECT\n"))


def test_a_dag_of_no_nodes_is_written_as_one_that_can_be_read() -> None:
    written = FORMATS["dagman"].render(read("# nothing\n")).text
    assert says(read(written))["jobs"] == 0


# --- lines -----------------------------------------------------------------------------------------------------------


def test_comments_are_whole_lines() -> None:
    assert says(read("# x\n  // y\n\nJOB A a.sub\n"))["jobs"] == 1
    assert "unexpected word" in str(error("JOB A a.sub # x\n"))


def test_lines_are_continued_over_comments_and_count_as_their_last() -> None:
    workflow = read("JOB A \\\n# no\n\n  a.sub\nJOB B b.sub\r\nPARENT A \\\n CHILD \\\n B\n")
    assert order(workflow) == {("A", "B")}
    assert error("JOB A a.sub\nRETRY A \\\n x\n").line == 3


def test_a_file_that_ends_in_a_backslash_loses_that_command_with_a_warning() -> None:
    assert "backslash" in says(read("JOB A a.sub\nJOB B b.sub \\\n"))["warnings"][0]


def test_command_words_are_the_same_in_any_case_and_with_either_dash() -> None:
    assert says(read("jOb A a.sub\nsubmit_description d {\n}\n"))["jobs"] == 1


def test_an_unknown_command_is_told_with_the_one_that_was_meant() -> None:
    found = error("JOB A a.sub\nPARANT A CHILD B\n")
    assert str(found).startswith('x.dag:2: "PARANT" is not a valid DAG command.') and "PARENT" in found.fix


@pytest.mark.parametrize("text", ["", "\n\n", " \t\n"])
def test_an_empty_file_is_an_error(text: str) -> None:
    assert error(text).line == 1


@pytest.mark.parametrize("text", ["# only a comment\n", "// and this\n", "MAXJOBS c 1\n"])
def test_a_file_without_nodes_is_a_dag_of_none_with_a_warning(text: str) -> None:
    answer = says(read(text))
    assert answer["jobs"] == 0 and answer["warnings"] == ["the DAG has no nodes."]


def test_an_open_quote_is_an_error() -> None:
    assert error('JOB A "a.sub\nJOB B b.sub\n').line == 1


def test_a_rescue_file_marks_what_is_done_also_in_splices() -> None:
    files = Texts(
        {
            "x.dag": "SPLICE S s.dag\nJOB A a.sub\n",
            "s.dag": TWO,
            "x.dag.rescue001": "# Rescue DAG file\nDONE S+A\nDONE A\nRETRY S+B 2\n",
        }
    )
    workflow = FORMATS["dagman"].parse("x.dag.rescue001", files)
    assert workflow.name == "x"
    assert [group.jobs[0].rules.done for group in workflow.groups] == [True, False, True]
    assert workflow.groups.groups[1].jobs[0].rules.retries == 2


def test_a_rescue_file_without_its_dag_says_so() -> None:
    with pytest.raises(InputError, match="is not there"):
        FORMATS["dagman"].parse("x.dag.rescue001", Texts({"x.dag.rescue001": "DONE A\n"}))
    whole = Texts({"x.dag.rescue001": "JOB A a.sub\nDONE A\n", "a.sub": "queue"})
    assert job(FORMATS["dagman"].parse("x.dag.rescue001", whole), "A").rules.done


def test_splices_that_multiply_come_to_an_end() -> None:
    levels = {f"s{n}_dag": "".join(f"SPLICE {c} s{n + 1}.dag\n" for c in "abcdefghij") for n in range(20)}
    assert "multiply" in str(error("SPLICE a s0.dag\n", **levels, s20_dag="JOB X a.sub\n"))


def test_a_comment_behind_a_command_is_told_as_one() -> None:
    assert "comment" in str(error(f"{TWO}PARENT A CHILD B # then\n"))


def test_a_noop_node_needs_no_submit_file() -> None:
    assert not says(read("JOB A nowhere.sub NOOP\n"))["warnings"]


def test_a_renamed_node_runs_what_it_ran() -> None:
    inner = "JOB A {\nexecutable = /bin/echo\narguments = $(JOB) $(job)\n}\n"
    workflow = read("SPLICE S s.dag\n", s_dag=inner)
    text = FORMATS["dagman"].render(workflow).text
    assert "JOB S.A {" in text and "arguments = S+A S+A" in text


def test_names_that_dagman_reads_are_written_as_they_are() -> None:
    text = 'JOB a@b a.sub\nJOB {c} a.sub\nJOB d\\e a.sub\nJOB "f g" a.sub\n'
    assert FORMATS["dagman"].render(read(text)).text == text
