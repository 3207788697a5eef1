"""What a run does with each submit command: nothing that cannot be honoured is passed over in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from headway.formats.submit import parse_description, processes
from headway.formats.submit.commands import HARMLESS, HONOURED, REFUSED, WARNED
from headway.model.errors import InputError
from headway.model.job import Job, Pairs

# The names in the manual of HTCondor 25; request_NAME and families of the cloud universes have more.
_MANUAL = """
accounting_group accounting_group_user allowed_execute_duration allowed_job_duration arc_application arc_data_staging
arc_resources arc_rte arguments aws_access_key_id_file aws_region aws_secret_access_key_file azure_admin_key
azure_admin_username azure_auth_file azure_image azure_location azure_size batch_extra_submit_args batch_name
batch_project batch_queue batch_runtime checkpoint_destination checkpoint_exit_code cloud_label_names
concurrency_limits concurrency_limits_expr container_image container_is_common container_service_names
container_target_dir copy_to_spool coresize cron_day_of_month cron_day_of_week cron_hour cron_minute cron_month
cron_prep_time cron_window cuda_version dagman_log deferral_prep_time deferral_time deferral_window
delegate_job_gsi_credentials_lifetime description docker_image docker_network_type docker_override_entrypoint
docker_pull_policy dont_encrypt_input_files dont_encrypt_output_files ec2_access_key_id ec2_ami_id
ec2_availability_zone ec2_block_device_mapping ec2_ebs_volumes ec2_elastic_ip ec2_iam_profile_arn
ec2_iam_profile_name ec2_instance_type ec2_keypair ec2_keypair_file ec2_parameter_names ec2_secret_access_key
ec2_security_groups ec2_security_ids ec2_spot_price ec2_tag_names ec2_user_data ec2_user_data_file ec2_vpc_ip
ec2_vpc_subnet email_attributes encrypt_execute_directory encrypt_input_files encrypt_output_files environment
erase_output_and_error_on_restart error executable gce_account gce_auth_file gce_image gce_json_file gce_machine_type
gce_metadata gce_metadata_file gce_preemptible getenv gpus_maximum_capability gpus_minimum_capability
gpus_minimum_memory gpus_minimum_runtime grid_resource gs_access_key_id_file gs_secret_access_key_file hold
hold_kill_sig image_size initialdir input jar_files java_vm_args job_ad_information_attrs job_lease_duration
job_machine_attrs job_machine_attrs_history_length job_max_vacate_time keep_claim_idle kill_sig kill_sig_timeout
leave_in_queue load_profile log log_xml machine_count manifest manifest_dir match_list_length max_idle
max_job_retirement_time max_materialize max_retries max_transfer_input_mb max_transfer_output_mb mount_under_scratch
next_job_start_delay nice_user noop_job noop_job_exit_code noop_job_exit_signal notification notify_user on_exit_hold
on_exit_hold_reason on_exit_hold_subcode on_exit_remove output output_destination periodic_hold periodic_hold_reason
periodic_hold_subcode periodic_release periodic_remove periodic_vacate preserve_relative_paths primary_unix_group
priority public_input_files rank remote_initialdir remove_kill_sig rendezvousdir request_cpus request_disk
request_gpus request_memory require_gpus requirements retry_request_memory retry_request_memory_increase
retry_request_memory_max retry_until run_as_owner s3_access_key_id_file s3_secret_access_key_file scitokens_file shell
should_transfer_files skip_filechecks skip_if_dataflow stack_size starter_debug starter_log stream_error stream_input
stream_output submit_event_notes success_exit_code suspend_job_at_exec tool_daemon_cmd tool_daemon_arguments
tool_daemon_error tool_daemon_input tool_daemon_output transfer_checkpoint_files transfer_container transfer_error
transfer_executable transfer_input transfer_input_files transfer_output transfer_output_files transfer_output_remaps
transfer_plugins ulog_execute_attrs universe use_oauth_services use_scitokens use_x509userproxy vm_checkpoint vm_disk
vm_macaddr vm_memory vm_networking vm_networking_type vm_no_output_vm vm_type want_graceful_removal want_io_proxy
want_job_networking when_to_transfer_output x509userproxy xen_initrd xen_kernel xen_kernel_params xen_root
"""
MANUAL = _MANUAL.split()


def run(text: str, variables: Pairs = ()) -> tuple[Job, list[str]]:
    """The job of a description that is to be run, and the warnings."""
    warnings: list[str] = []
    description = parse_description("x.sub", f"executable = /bin/x\n{text}\nqueue\n", None)
    (job,) = processes(description, "N", variables, warnings=warnings, runs=True)
    return job, warnings


def refused(text: str, variables: Pairs = ()) -> str:
    with pytest.raises(InputError) as caught:
        run(text, variables)
    return str(caught.value)


def test_each_command_of_the_manual_is_either_honoured_or_harmless_or_warned_of_and_refused() -> None:
    partly = {"universe", "noop_job", "transfer_input_files"}  # refused for some of their values
    spoken_of = {*REFUSED, *WARNED} - partly
    ways = {name: (name in HONOURED) + (name in HARMLESS) + (name in spoken_of) for name in MANUAL}
    assert {name: count for name, count in ways.items() if count != 1} == {}


def test_what_is_warned_of_and_refused_is_in_the_documentation() -> None:
    text = (Path(__file__).parents[3] / "docs/formats/submit.md").read_text()
    families = ("cron_", "gpus_m", "retry_request_memory")
    named = [name for name in {*REFUSED, *WARNED} if name in MANUAL and not name.startswith(families)]
    assert [name for name in named if f"`{name}" not in text] == []


@pytest.mark.parametrize(
    "line",
    [
        "on_exit_remove = false",
        "On_Exit_Remove=FALSE",
        "on_exit_remove =   ( False )",
        "on_exit_remove = 0",
        "on_exit_remove = 1 > 2",
        "never = false\non_exit_remove = $(never)",
        "OnExitRemove = false",
        "+OnExitRemove = false",
        "MY.OnExitRemove = False",
        "on_exit_hold = true",
        "periodic_hold = true",
        "PeriodicRemove = true",
        "periodic_vacate = !false",
        "requirements = false",
        "Requirements = $(ask:false)",
        "+Requirements = false",
        "requirements = undefined",
        "deferral_time = 1900000000",
        "Deferral_Time = (QDate + 60)",
        "+DeferralTime = 1",
        "cron_minute = 0",
        "cron_day_of_week = *",
        "cron_window = 5",
        'transfer_output_remaps = "a = b"',
        "TransferOutputRemaps = $(new)\nnew = a=b",
        "output_destination = http://example.org",
        "transfer_input_files = a, https://example.org/b",
        "TransferInputFiles = osdf:///b",
        "remote_initialdir = /tmp",
        "checkpoint_exit_code = 85",
        "tool_daemon_cmd = /bin/strace",
        "suspend_job_at_exec = true",
        "hold = 1 == 1",
        "universe = docker",
        "noop_job = MY.Idle",
        "noop_job_exit_signal = 9",
        "+RequestMemory = 4000",
        "RequestCpus = 4",
        "+AllowedJobDuration = 5",
        '+Iwd = "/tmp"',
    ],
)
def test_what_would_be_run_otherwise_is_refused_by_line(line: str) -> None:
    """It ran in silence."""
    at = 3 if line.startswith("never") else 2
    assert refused(line).startswith(f"x.sub:{at}: ")


def test_a_refusal_names_the_command_as_it_is_written() -> None:
    said = "x.sub:2: On_Exit_Remove is false: the job would be run again and again, and never be done."
    assert refused("On_Exit_Remove = False").startswith(said)


def test_what_a_node_sets_is_refused_too() -> None:
    assert "requirements is never true" in refused("", (("requirements", "false"),))


@pytest.mark.parametrize(
    "line",
    [
        "on_exit_remove = ExitCode == 0",
        "on_exit_hold = ExitCode =!= 0",
        "PeriodicHold = (NumJobStarts >= 1 && JobStatus == 1)",
        "periodic_remove = time() > 5",
        'requirements = OpSys == "LINUX"',
        "require_gpus = Capability > 7",
        "gpus_minimum_memory = 4G",
        "concurrency_limits = licence",
        "max_materialize = 3",
        "next_job_start_delay = 5",
        "machine_count = 2",
        "Notification = Complete",
        "kill_sig = SIGINT",
        "job_max_vacate_time = 60",
        "core_size = 0",
        "use_oauth_services = box",
        "encrypt_execute_directory = True",
        "want_io_proxy = true",
        "skip_if_dataflow = true",
        "retry_request_memory = 4G",
    ],
)
def test_what_is_not_honoured_is_warned_of_by_line(line: str) -> None:
    _, (warning,) = run(line)
    assert warning.startswith(f"x.sub:2: {line.partition('=')[0].strip()}")


@pytest.mark.parametrize(
    "line",
    [
        "on_exit_remove = True",
        "on_exit_remove = (1 < 2)",
        "on_exit_remove = $(nothing)",
        "on_exit_hold = false",
        "periodic_hold = FALSE",
        "periodic_remove = undefined",
        "periodic_release = NumJobStarts < 5",
        "requirements = true",
        "requirements =",
        "deferral_time = $(nothing)",
        "deferral_window = 5",
        'transfer_output_remaps = ""',
        "notification = Never",
        "kill_sig = SIGTERM",
        "machine_count = 1",
        "transfer_input_files = a, b",
        "hold = no",
        "universe = Vanilla",
        "getenv = true",
        "log = x.log\nshould_transfer_files = YES\nwhen_to_transfer_output = ON_EXIT\nrank = Memory",
        '+ProjectName = "physics"\nstage = 2\nmy_requirements = false',
    ],
)
def test_what_changes_nothing_on_one_computer_is_read_without_a_word(line: str) -> None:
    assert run(line)[1] == []


def test_a_file_that_is_only_looked_at_is_not_refused() -> None:
    description = parse_description("x.sub", "executable = /bin/x\non_exit_remove = false\nqueue\n", None)
    assert len(processes(description, "N")) == 1


def test_the_shorter_of_two_time_limits_counts() -> None:
    assert run("allowed_execute_duration = 60\nallowed_job_duration = 5")[0].resources.time == 5.0
    assert run("Allowed_Job_Duration = 2 * $(n)\nn = 30")[0].resources.time == 60.0


@pytest.mark.parametrize("text", ["True", "1 == 1", "$(yes_it_is)\nyes_it_is = true"])
def test_a_job_that_does_nothing_ends_with_the_code_it_names(text: str) -> None:
    assert run(f"noop_job = {text}")[0].command == ":"
    assert run(f"noop_job_exit_code = 1 + 2\nnoop_job = {text}")[0].command == "exit 3"


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("requst_memory", "request_memory"),
        ("Request_Memroy", "request_memory"),
        ("request_cpu", "request_cpus"),
        ("argument", "arguments"),
        ("enviroment", "environment"),
        ("outptu", "output"),
        ("transfer_input_file", "transfer_input_files"),
        ("perodic_hold", "periodic_hold"),
    ],
)
def test_a_misspelt_command_that_was_passed_over_in_silence_is_warned_of(name: str, command: str) -> None:
    _, warnings = run(f"{name} = 2048")
    said = f'x.sub:2: "{name}" is no submit command, and nothing uses it. Is {command} meant?'
    assert said in warnings


@pytest.mark.parametrize(
    "text",
    [
        "outputs = a\narguments = $(outputs)",
        "Outputs = a\narguments = $F(OUTPUTS) b",
        "outputs = a\narguments = $(outputs:b)",
        "outputs = a\nif defined outputs\nendif",
        "my_output = a",
        "request_gpu = 1",
        "+Outptu = 1",
    ],
)
def test_a_macro_that_is_used_or_like_no_command_is_not_warned_of(text: str) -> None:
    assert run(text)[1] == []


def test_variables_of_a_node_that_its_description_does_not_use_are_not_warned_of() -> None:
    assert run("arguments = a", (("outputs", "b"),))[1] == []
