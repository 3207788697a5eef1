"""What a run does with each submit command: honours it, leaves it out (and why), warns of it, or refuses it.

Every command of HTCondor's manual is in one of the tables. A name that is in none is a macro of the file's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from headway.formats.submit.description import Value
from headway.formats.submit.expression import truth
from headway.model.errors import InputError, shown

PLAIN_UNIVERSES = {"", "vanilla", "5", "local", "12", "scheduler", "7"}

# Read by job.py, with their other names; request_NAME and +Headway… as well.
_HONOURED = """universe executable arguments arguments2 args shell environment env environment2 input stdin output
    stdout error stderr initialdir initial_dir job_iwd iwd transfer_executable transfer_input_files transferinputfiles
    transfer_output_files transferoutputfiles request_cpus request_memory request_disk request_gpus
    allowed_execute_duration allowed_job_duration max_retries retry_until success_exit_code jobsuccessexitcode priority
    prio noop_job noop_job_exit_code"""
HONOURED = frozenset(_HONOURED.split())

_HARMLESS = {
    "it only labels, describes or accounts for a job": """accounting_group accounting_group_user nice_user batch_name
        batch_id description jobset submit_event_notes submit_event_user_notes job_ad_information_attrs
        job_machine_attrs job_machine_attrs_history_length match_list_length dagman_job_id want_ads
        image_size disk_usage memory_usage email_attributes notify_user on_exit_hold_reason on_exit_hold_subcode
        periodic_hold_reason periodic_hold_subcode""",
    "headway history and headway logs have what happened": """log log_xml dagman_log ulog_execute_attrs starter_debug
        starter_log leave_in_queue""",
    "jobs inherit the environment of headway run": "getenv get_env allow_environment_v1",
    "it says how condor_submit checks a file": "skip_filechecks allow_arguments_v1",
    "condor_submit -interactive alone reads it": "interactive_exectuable interactive_args",
    "files are not transferred: the job runs where they are": """should_transfer_files when_to_transfer_output
        preserve_relative_paths transfer_input transfer_output transfer_error stream_input stream_output stream_error
        max_transfer_input_mb max_transfer_output_mb encrypt_input_files encrypt_output_files dont_encrypt_input_files
        dont_encrypt_output_files transfer_plugins public_input_files copy_to_spool transfer_checkpoint_files
        checkpoint_destination aws_access_key_id_file aws_secret_access_key_file aws_region s3_access_key_id_file
        s3_secret_access_key_file gs_access_key_id_file gs_secret_access_key_file send_credential""",
    "there is one computer to choose from": "rank preferences",
    "no job is evicted, matched or held here": """keep_claim_idle job_lease_duration max_job_retirement_time
        erase_output_and_error_on_restart periodic_release hold_kill_sig""",
    "deferral_time is refused, and it says nothing without": "deferral_window deferral_prep_time",
    "tool_daemon_cmd is refused, and it says nothing without": """tool_daemon_args tool_daemon_arguments
        tool_daemon_arguments2 tool_daemon_input tool_daemon_error tool_daemon_output""",
    "manifest is warned of, and it says nothing without": "manifest_dir",
    "Windows alone knows it": "run_as_owner load_profile",
    "images are refused, and it says nothing without": """docker_network_type docker_pull_policy
        docker_override_entrypoint docker_send_credentials container_service_names container_target_dir
        transfer_container container_is_common""",
    "the grid universe is refused, and it says nothing without": """grid_resource arc_rte arc_application arc_resources
        arc_data_staging rendezvousdir batch_extra_submit_args batch_project batch_queue batch_runtime globus_rsl
        nordugrid_rsl cream_attributes keystore_file keystore_alias keystore_passphrase_file ec2_access_key_id
        ec2_secret_access_key ec2_ami_id ec2_user_data ec2_user_data_file ec2_security_groups ec2_security_ids
        ec2_keypair ec2_keypair_file ec2_keyp_air ec2_key_pair_file ec2_instance_type ec2_elastic_ip ec2_ebs_volumes
        ec2_availability_zone ec2_vpc_subnet ec2_vpc_ip ec2_tag_names ec2_spot_price ec2_block_device_mapping
        ec2_parameter_names ec2_iam_profile_arn ec2_iam_profile_name wantnametag gce_image gce_account gce_auth_file
        gce_machine_type gce_metadata gce_metadata_file gce_preemptible gce_json_file azure_auth_file azure_location
        azure_size azure_image azure_admin_username azure_admin_key cloud_label_names""",
    "the vm universe is refused, and it says nothing without": """vm_vnc vm_type vm_memory vm_vcpus vm_disk vm_macaddr
        vm_checkpoint vm_networking vm_networking_type vm_no_output_vm xen_kernel xen_initrd xen_root
        xen_kernel_params""",
    "the java universe is refused, and it says nothing without": """jar_files java_vm_args java_vm_arguments
        java_vm_arguments2""",
    "the parallel universe is refused, and it says nothing without": "parallel_script_shadow parallel_script_starter",
    "the standard universe is refused, and it says nothing without": """file_remaps buffer_files buffer_size
        buffer_block_size fetch_files compress_files append_files local_files""",
}
HARMLESS = {name: why for why, names in _HARMLESS.items() for name in names.split()}


class Rule(NamedTuple):
    """What is said of a command, and of which of its values."""

    what: str  # {name} and {value} are filled in
    when: Callable[[str], bool]
    fix: str = ""


def _always(text: str) -> bool:
    return text.lower() not in ('""', "undefined")


def _unless_false(text: str) -> bool:
    return truth(text) is not False


def _true(text: str) -> bool:
    return truth(text) is True


def _false(text: str) -> bool:
    return truth(text) is False


def _open(text: str) -> bool:
    return truth(text) is None


def _other_than(*values: str) -> Callable[[str], bool]:
    return lambda text: text.lower() not in (*values, '""', "undefined")


def _all(names: str, rule: Rule) -> dict[str, Rule]:
    return dict.fromkeys(names.split(), rule)


_TAKE_OUT = "Take it out, or submit it to HTCondor."
_HOST = "is not run here: the command would run on this computer"
_IMAGE = Rule(f"{{name}} {_HOST}, outside of the image.", _unless_false, _TAKE_OUT)
_HELD = "{name} is true: the job would be held, and nothing here releases it."
_AT_A_TIME = "{name} says when the job is to start; here it would start as soon as it can."
_EXPRESSION = "{name} is an expression for HTCondor, and not evaluated here."
_LATER = "Take it out; cron or at can start headway run."

REFUSED = {
    "universe": Rule(
        f"universe {{value}} {_HOST} as it is.",
        lambda text: text.lower() not in PLAIN_UNIVERSES,
        "Use the vanilla universe, or submit it to HTCondor.",
    ),
    "my.jobuniverse": Rule(
        f"{{name}} = {{value}} {_HOST} as it is.",
        lambda text: text.lower() not in PLAIN_UNIVERSES,
        "Use the vanilla universe, or submit it to HTCondor.",
    ),
    **_all("container_image docker_image", _IMAGE),
    **_all("my.singularityimage my.apptainerimage my.wantdocker my.wantcontainer", _IMAGE),
    "my.wantparallelscheduling": Rule(f"{{name}} {_HOST} alone.", _unless_false, _TAKE_OUT),
    "hold": Rule(
        "hold would keep the job from ever starting: nothing here releases it.",
        _unless_false,
        "Take it out; headway disable NODE keeps a node from starting.",
    ),
    "requirements": Rule("{name} is never true: no computer could run the job.", _false, "Take it out."),
    **_all("on_exit_hold periodic_hold", Rule(_HELD, _true, _TAKE_OUT)),
    "on_exit_remove": Rule(
        "{name} is false: the job would be run again and again, and never be done.",
        _false,
        "Take it out; max_retries says how often a job is tried again.",
    ),
    "periodic_remove": Rule("{name} is true: the job would be removed.", _true, _TAKE_OUT),
    "periodic_vacate": Rule("{name} is true: the job would never come to its end.", _true, _TAKE_OUT),
    "noop_job": Rule("{name} = {value} is neither true nor false.", _open, "Only true and false can be honoured."),
    "noop_job_exit_signal": Rule("{name} is not honoured here.", _other_than("0"), "Use noop_job_exit_code."),
    "deferral_time": Rule(_AT_A_TIME, _always, _LATER),
    **_all(
        "cron_minute cron_hour cron_day_of_month cron_month cron_day_of_week cron_window cron_prep_time",
        Rule(_AT_A_TIME, _always, _LATER),
    ),
    "transfer_output_remaps": Rule(
        "{name} renames files after the job, which is not done here.",
        _always,
        "Take it out, and have the command write the files where they belong.",
    ),
    "output_destination": Rule("{name}: nothing is uploaded here.", _always, "Take it out; the command can upload."),
    "transfer_input_files": Rule(
        "{name} names a URL, and nothing is downloaded here.",
        lambda text: "://" in text,
        "Take it out; the command can download it.",
    ),
    "remote_initialdir": Rule("{name} is not honoured here.", _always, "Use initialdir."),
    "checkpoint_exit_code": Rule(
        "{name}: a job that ends with this code to be started again would have failed here.", _always, _TAKE_OUT
    ),
    "tool_daemon_cmd": Rule("{name} is not run here beside the job.", _always, _TAKE_OUT),
    "suspend_job_at_exec": Rule("{name}: nothing here would resume the job.", _unless_false, _TAKE_OUT),
}

_CREDENTIALS = "{name}: no credentials are made or renewed here; the job has those of its user."
_COMPUTER = "{name} is about computers to choose from, and not evaluated here: the job runs on this one."
_THROTTLE = "{name} limits nothing here. Use request_NAME, and headway run --resource NAME=N."

WARNED = {
    **_all("on_exit_hold on_exit_remove periodic_hold periodic_remove periodic_vacate", Rule(_EXPRESSION, _open)),
    "exit_requirements": Rule(_EXPRESSION, _always),
    "requirements": Rule(_COMPUTER, _open),
    **_all(
        "require_gpus gpus_minimum_memory gpus_minimum_capability gpus_maximum_capability gpus_minimum_runtime"
        " cuda_version",
        Rule(_COMPUTER, _always),
    ),
    **_all("concurrency_limits concurrency_limits_expr max_materialize", Rule(_THROTTLE, _always)),
    **_all("max_idle materialize_max_idle", Rule(_THROTTLE, _always)),
    "next_job_start_delay": Rule("{name}: jobs start here without a delay.", _other_than("0")),
    **_all("machine_count node_count nodecount", Rule("{name}: one computer runs the job.", _other_than("1"))),
    "notification": Rule("{name}: jobs send no mail here. headway run --mail does, at its end.", _other_than("never")),
    **_all(
        "kill_sig remove_kill_sig",
        Rule("{name}: a job is ended here by SIGTERM.", _other_than("sigterm", "15", '"sigterm"')),
    ),
    **_all("kill_sig_timeout job_max_vacate_time", Rule("{name}: how long a job has to end is not its own.", _always)),
    "want_graceful_removal": Rule("{name}: a job is always ended by SIGTERM first.", _false),
    **_all("core_size coresize stack_size", Rule("{name} is not set: the job has the limits of headway run.", _always)),
    "primary_unix_group": Rule("{name}: the job runs in the group of headway run.", _always),
    **_all("use_x509userproxy use_scitokens use_scitoken", Rule(_CREDENTIALS, _unless_false)),
    **_all(
        "x509userproxy scitokens_file use_oauth_services useoauthservices delegate_job_gsi_credentials_lifetime",
        Rule(_CREDENTIALS, _always),
    ),
    "encrypt_execute_directory": Rule("{name}: nothing is encrypted here.", _unless_false),
    "want_job_networking": Rule("{name}: the network is not closed to a job here.", _false),
    "mount_under_scratch": Rule("{name}: the job sees the folders as they are.", _always),
    "want_io_proxy": Rule("{name}: there is no condor_chirp here for the job to call.", _unless_false),
    "manifest": Rule("{name}: no manifest is written here.", _unless_false),
    "skip_if_dataflow": Rule("{name}: the job runs, however new its outputs are.", _unless_false),
    **_all(
        "retry_request_memory retry_request_memory_increase retry_request_memory_max",
        Rule("{name} is not honoured: headway run --more-memory does the like.", _always),
    ),
}

# Attributes behind commands that are honoured: HTCondor would heed them, and job.py reads the commands.
_BEHIND = """cmd:executable args:arguments arguments:arguments env:environment environment:environment iwd:initialdir
    in:input out:output err:error jobprio:priority jobmaxretries:max_retries jobsuccessexitcode:success_exit_code
    isnoopjob:noop_job transferinput:transfer_input_files"""
_SAME_NAME = "request_cpus request_memory request_disk request_gpus allowed_job_duration allowed_execute_duration"
_ATTRIBUTES = {f"my.{name}": command for name, _, command in (pair.partition(":") for pair in _BEHIND.split())}
_ATTRIBUTES |= {f"{my}{name.replace('_', '')}": name for name in _SAME_NAME.split() for my in ("", "my.")}


def _spelled(rules: Mapping[str, Rule]) -> dict[str, Rule]:
    """The rules by every name that a file can use: most attributes are called like their command without `_`."""
    found = dict(rules)
    for name, rule in rules.items():
        plain = name.replace("_", "")
        if not name.startswith("my.") and name not in ("hold", "universe"):
            found.setdefault(plain, rule)
            found.setdefault(f"my.{plain}", rule)
    return found


_REFUSED = _spelled(REFUSED) | {
    name: Rule(f"{{name}} is the attribute behind {command}, and not read here.", _always, f"Write {command} = …")
    for name, command in _ATTRIBUTES.items()
}
_WARNED = _spelled(WARNED)
_SPOKEN_OF = _REFUSED.keys() | _WARNED.keys()
KNOWN = HONOURED | HARMLESS.keys() | REFUSED.keys() | WARNED.keys()


def check(table: Mapping[str, Value], expanded: Callable[[Value], str], warn: Callable[[Value, str], None]) -> None:
    """Raises for what would be run otherwise than the description says; warns of what is not honoured."""
    for key, value in table.items():
        if key not in _SPOKEN_OF or not (text := expanded(value)):
            continue
        refusal, warning = _REFUSED.get(key), _WARNED.get(key)
        if refusal is not None and refusal.when(text):
            what = refusal.what.format(name=value.name, value=shown(text.lower()))
            raise InputError(value.path, value.line, what, refusal.fix)
        if warning is not None and warning.when(text):
            warn(value, warning.what.format(name=value.name))


def unknown(table: Mapping[str, Value]) -> list[Value]:
    """What is assigned to names that are no command: macros, attributes, and slips of the fingers."""
    return [value for key, value in table.items() if key not in KNOWN and key not in _SPOKEN_OF and "." not in key]
