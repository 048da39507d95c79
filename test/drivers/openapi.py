"""Schemathesis plays the OpenAPI documents that the simulator serves against the simulator that serves them.

Every answer has to have a status, a content type and a shape that the document names; errors of the server have to be none.
"""

import json
import os
import sys
import tempfile
import uuid

import schemathesis
from schemathesis.cli import schemathesis as command
from simulator import Simulator

SEED = 1
#: Random ones of each operation.
EXAMPLES = 1
PHASES = ["examples", "fuzzing", "stateful"]
#: Every bound of every part of the documents: a minute and more of one core.
THOROUGH = "coverage"
#: Not those that look at what is taken and refused: null stands for what is left out, and names that are taken or ids that lead nowhere
#: are beyond a schema.
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "allow_header_conformance",
    "ignored_auth",
    "missing_required_header",
    "use_after_free",
    "ensure_resource_availability",
]
#: Ends the session by which everything is asked. What may end it too is seen to in keep_session().
EXCLUDED = "deleteCurrentAPISession"
#: 501 is no fault where the document names it; where it does not, it is a status that is not documented.
CONFIG = '[checks.not_a_server_error]\nexpected-statuses = ["2xx", "3xx", "4xx", "501"]\n'
#: Of each kind, since some are deleted on the way.
COUNT = 3


def seed(simulator: Simulator) -> dict[str, list[str]]:
    """Entities of every kind; their ids by the first word of the paths they are found under."""
    ids: dict[str, list[str]] = {}

    def add(kind: str, api: str = "management", **fields) -> str:
        made = simulator.call("POST", f"/{kind}", fields, api)["id"]
        ids.setdefault(kind, []).append(made)
        return made

    with open(simulator.ca, encoding="utf-8") as file:
        root = file.read().split("-----END", 1)[0] + "-----END CERTIFICATE-----\n"
    everybody = {"semantic": "AnyOf", "identityRoles": ["#all"]}
    over_all = {"semantic": "AnyOf", "edgeRouterRoles": ["#all"]}
    add("service-policies", name="dial", type="Dial", serviceRoles=["#all"], **everybody)
    add("edge-router-policies", name="all", identityRoles=["#all"], **over_all)
    add("service-edge-router-policies", name="all", serviceRoles=["#all"], **over_all)
    add("cas", name="ca", certPem=root, identityRoles=[], isAuthEnabled=True, isAutoCaEnrollmentEnabled=True, isOttCaEnrollmentEnabled=True)
    for number in range(COUNT):
        name = f"seed{number}"
        config_type = add("config-types", name=name, schema={"type": "object"})
        config = add("configs", name=name, configTypeId=config_type, data={"some": "value"})
        service = add("services", name=name, encryptionRequired=True, roleAttributes=["a"], configs=[config])
        router = add("edge-routers", name=f"edge{number}", isTunnelerEnabled=True, roleAttributes=["a"])
        identity = add("identities", name=name, type="Device", isAdmin=False, roleAttributes=["a"], enrollment={"ott": True})
        add("authenticators", identityId=identity, method="updb", username=name, password="password")
        add("enrollments", identityId=identity, method="updb", username=f"other{number}", expiresAt="2100-01-01T00:00:00Z")
        add("terminators", service=service, router=router, binding="transport", address="tcp:127.0.0.1:1")
        add("transit-routers", name=f"transit{number}")
        add("posture-checks", name=name, typeId="OS", operatingSystems=[{"type": "LINUX", "versions": [">=5.0.0"]}])
        add("revocations", id=str(uuid.uuid4()), type="JTI")
        add("external-jwt-signers", name=name, issuer=name, audience="a", enabled=True, jwksEndpoint="https://localhost/keys")
        add("sessions", "client", serviceId=service, type="Dial")
    ids["routers"] = ids["transit-routers"]
    ids["auth-policies"] = ["default"]
    ids["api-sessions"] = [simulator.session["id"]]
    ids["current-identity"] = [simulator.session["authenticatorId"]]
    ids["specs"] = ["edge-client", "edge-management"]
    ids["identity-types"], ids["posture-check-types"] = ["Default"], ["OS", "MFA"]
    return ids


def lead_somewhere(document: dict, ids: dict[str, list[str]]) -> None:
    """Ids in paths and roles in bodies are any text for the document; half of them shall be some that are there."""
    for path, operations in document["paths"].items():
        known = ids.get(path.split("/")[1])
        for operation in operations.values():
            for parameter in operation["parameters"]:
                if parameter["in"] == "path" and known:
                    either = ids["services"] if parameter["name"] == "serviceId" else known
                    parameter["schema"] = {"anyOf": [{"enum": either}, {"type": "string"}]}
    document["components"]["schemas"]["roles"]["items"] = {"anyOf": [{"enum": ["#all", "#a"]}, {"type": "string"}]}


def keep_session(simulator: Simulator) -> None:
    """What would end the session of the administrator is asked of something else: of his identity, his password, his session."""
    own = {simulator.session[key] for key in ("id", "identityId", "authenticatorId")}

    @schemathesis.hook
    def before_call(_context, case, _kwargs):
        if case.method not in ("GET", "HEAD") and (case.path_parameters or {}).get("id") in own:
            case.path_parameters["id"] = "somebody-else"


def play(simulator: Simulator, api: str, ids: dict[str, list[str]]) -> bool:
    """Whether everything that an API answers is what its document says. Needs a working directory of its own."""
    document = simulator.call("GET", f"/specs/edge-{api}/spec", api=api)
    lead_somewhere(document, ids)
    with open(f"{api}.json", "w", encoding="utf-8") as file:
        json.dump(document, file)
    options = {
        "--url": simulator.urls[api],
        "--header": f"zt-session: {simulator.token}",
        "--tls-verify": simulator.ca,
        "--phases": ",".join([THOROUGH, *PHASES] if os.environ.get("TEST_THOROUGH") else PHASES),
        "--checks": ",".join(CHECKS),
        "--exclude-operation-id": EXCLUDED,
        "--max-examples": str(EXAMPLES),
        "--seed": str(SEED),
        "--generation-database": "none",
        "--warnings": "off",
    }
    words = [word for option in options.items() for word in option]
    try:
        command.main(["run", f"{api}.json", *words, "--no-shrink", "--continue-on-failure"], standalone_mode=False)
    except SystemExit as end:
        return not end.code
    return True


def main() -> None:
    simulator = Simulator(sys.argv[1])
    ids = seed(simulator)
    keep_session(simulator)
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)  # where its configuration is looked for, and its notes are left
        with open("schemathesis.toml", "w", encoding="utf-8") as file:
            file.write(CONFIG)
        failed = [api for api in simulator.urls if not play(simulator, api, ids)]
        os.chdir(home)
    if failed:
        sys.exit(f"not as the document says: {', '.join(failed)}")
    # A session that had ended would have made everything after it a refusal, and every refusal is documented.
    simulator.call("GET", "/current-api-session")


if __name__ == "__main__":
    main()
