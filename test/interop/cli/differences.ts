// The commands that are not compared, and the differences that stay, each with its reason.

/** Commands of the help that are not run. Key: the beginning of the command. */
export const SKIPPED: Readonly<Record<string, string>> = {
  'edge enroll': 'enrolls from a token: test/interop/clients.test.ts runs it',
  'edge login': 'each run of the comparison begins with it',
  'edge quickstart': 'starts a controller of the reference',
  'edge traceroute': 'asks a router, with an identity; no controller answers it',
  'fabric inspect metrics': 'prints measurements, which never repeat',
  'fabric inspect stackdump': 'prints the stacks of the process',
  'fabric stream': 'runs until it is stopped; test/api/events.test.ts subscribes to events',
  'ops cluster recover': 'changes files of a controller that is stopped',
  'ops console': 'downloads and configures files',
  'ops db': 'reads or changes a database file',
  'ops log-format': 'formats text',
  'ops unwrap': 'splits a file',
  'ops verify network': 'reads configuration files',
  'ops verify traffic': 'test/interop/clients.test.ts runs it',
};

const CLUSTER = 'the simulator has no consensus between controllers, so it has no settings or dials of it';
const TYPES = 'the simulator lists the type MFA, too: such checks exist';
const STATE = "inner state of the reference's process that the simulator does not have";
const FAULT = 'a request that is at fault gets a 4xx (docs/differences.md)';
const INTEGRITY =
  'enrollments of a deleted router are deleted (docs/differences.md); costs for a deleted service are reported';
const WORDING = 'other words for the same fault';

/** Commands and examples that differ. Key: the whole line. */
export const DIFFERENT: Readonly<Record<string, string>> = {
  'edge version': 'other programs: revision and runtime differ',
  'edge list summary': TYPES,
  "edge list summary 'skip 10 limit 10'": TYPES,
  'fabric inspect cluster-config': CLUSTER,
  'fabric inspect ctrl-peer-dialer': CLUSTER,
  'ops cluster add tls:127.0.0.1:1': WORDING,
  'ops cluster remove nothing': 'an unknown member is an error; the reference answers 200 (docs/differences.md)',
  'edge list posture-check-types': TYPES,
  "edge list posture-check-types 'skip 10 limit 10'": TYPES,
  'edge show config-type host.v1': 'the descriptions within schemas are texts, not facts',
  'fabric inspect identity-connection-statuses': 'the simulator does not scan connections at an interval',
  'fabric inspect router-data-model online': 'the simulator has another number of authorities of its own',
  'fabric inspect router-messaging': STATE,
  'edge list identities --role-filters echo --role-semantic AnyOf': FAULT,
  'edge list services --role-filters echo,web --role-semantic AllOf': FAULT,
  'edge delete config-type host.v1': FAULT,
  'fabric delete circuit nothing': FAULT,
  'edge db check-integrity-status': INTEGRITY,
  'fabric db check-integrity-status': INTEGRITY,
  'edge delete api-session 00000000-0000-0000-0000-000000000000':
    'an unknown session is not found; the reference answers 401 as if the caller had none',
  "edge list identities 'name ='": WORDING,
  "fabric validate router-data-model 'name ='": WORDING,
  "fabric validate terminators --filter 'binding ='": WORDING,
  'edge create config broken host.v1 \'{"protocol":"ship","address":"localhost","port":80}\'': WORDING,
  'edge update config test -d \'{"port":"none"}\'': WORDING,
  'edge update identity echo-client -n echo-host':
    'a name that is taken is rejected; the reference answers 200 and changes nothing',
  "edge list cas 'limit 5'": 'a patch with an empty claim adds none; the reference adds a claim without content',
  "edge list auth-policies 'sort by name limit 5'":
    'a patch sets the length of passwords that it names; the reference sets 5',
  'edge delete identity where \'name contains "echo" limit none\'': WORDING,
};
