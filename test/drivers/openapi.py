"""Schemathesis tests the simulator against the OpenAPI documents that it serves.

Every answer must have a documented status, content type and schema. Server errors are not permitted.
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
#: Random examples for each operation.
EXAMPLES = 1
IS_RELEASE = bool(os.environ.get("TEST_RELEASE"))
IS_THOROUGH = IS_RELEASE or bool(os.environ.get("TEST_THOROUGH"))
APIS = ["client", "management"] if IS_THOROUGH else ["client"]
#: A release also tests sequences of requests, and every limit in the documents: more than a minute of one core.
PHASES = ["examples", "fuzzing"] + (["stateful", "coverage"] if IS_RELEASE else [])
#: Omits the checks that compare accepted with valid bodies: null means missing here, and names in use or unknown ids
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
#: Ends the session of all requests. keep_session() prevents other ways to end it.
EXCLUDED = "deleteCurrentAPISession"
#: 501 is accepted where the document lists it; elsewhere it is an undocumented status.
CONFIG = '[checks.not_a_server_error]\nexpected-statuses = ["2xx", "3xx", "4xx", "501"]\n'
#: Entities of each kind, since requests delete some.
COUNT = 3


def seed(simulator: Simulator) -> dict[str, list[str]]:
    """Creates entities of every kind. Returns their ids by the first segment of their paths."""
    ids: dict[str, list[str]] = {}

    def add(kind: str, api: str = "management", **fields) -> str:
        created = simulator.call("POST", f"/{kind}", fields, api)["id"]
        ids.setdefault(kind, []).append(created)
        return created

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


def use_known_ids(document: dict, ids: dict[str, list[str]]) -> None:
    """The document accepts any text for ids in paths and roles in bodies. Makes half of them existing ones."""
    for path, operations in document["paths"].items():
        known = ids.get(path.split("/")[1])
        for operation in operations.values():
            for parameter in operation["parameters"]:
                if parameter["in"] == "path" and known:
                    either = ids["services"] if parameter["name"] == "serviceId" else known
                    parameter["schema"] = {"anyOf": [{"enum": either}, {"type": "string"}]}
    document["components"]["schemas"]["roles"]["items"] = {"anyOf": [{"enum": ["#all", "#a"]}, {"type": "string"}]}


def keep_session(simulator: Simulator) -> None:
    """Redirects changes of the administrator's identity, authenticator or session, which would end the session, to unknown ids."""
    own = {simulator.session[key] for key in ("id", "identityId", "authenticatorId")}

    @schemathesis.hook
    def before_call(_context, case, _kwargs):
        if case.method not in ("GET", "HEAD") and (case.path_parameters or {}).get("id") in own:
            case.path_parameters["id"] = "somebody-else"


def play(simulator: Simulator, api: str, ids: dict[str, list[str]]) -> bool:
    """Returns whether all answers of an API conform to its document. Needs a working directory of its own."""
    document = simulator.call("GET", f"/specs/edge-{api}/spec", api=api)
    use_known_ids(document, ids)
    with open(f"{api}.json", "w", encoding="utf-8") as file:
        json.dump(document, file)
    options = {
        "--url": simulator.urls[api],
        "--header": f"zt-session: {simulator.token}",
        "--tls-verify": simulator.ca,
        "--phases": ",".join(PHASES),
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
        os.chdir(directory)  # it reads its configuration and writes its files here
        with open("schemathesis.toml", "w", encoding="utf-8") as file:
            file.write(CONFIG)
        failed = [api for api in APIS if not play(simulator, api, ids)]
        os.chdir(home)
    if failed:
        sys.exit(f"answers that do not conform to the document: {', '.join(failed)}")
    # If the session had ended, every later answer would have been a rejection, which is always documented.
    simulator.call("GET", "/current-api-session")


if __name__ == "__main__":
    main()
