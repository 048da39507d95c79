// The reference's Helm chart `ziti-router` with our image: what it renders is accepted, and its pod starts with the
// rendered variables, volumes and probes. Kubernetes itself does not run here: a mount namespace stands for the pod.
//
// HELM_BIN names the program, ZITI_ROUTER_CHART the folder of the chart; the image is that of `npm run build:image`.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parseAllDocuments } from 'yaml';
import { loadRouterConfig } from '../../agent/config/load.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { issue, makeAuthority } from '../support/clients/certificates.ts';
import { createRouter } from '../support/clients/management.ts';
import { fixedPorts } from '../support/networks/fixed-ports.ts';
import { Overlay } from '../support/networks/overlay.ts';
import { type Container, ImageRoot } from '../support/programs/image.ts';
import { until } from '../support/until.ts';

const { HELM_BIN: HELM = '', ZITI_ROUTER_CHART: CHART = '' } = process.env;
const IMAGE = join(import.meta.dirname, '../../build/edgeweave-router.oci');
const VALUES = join(import.meta.dirname, '../../examples/service/ziti-router-values.yml');
const GROUP = 2171;
const skip =
  HELM === '' || CHART === ''
    ? 'HELM_BIN and ZITI_ROUTER_CHART do not name helm and the chart'
    : process.getuid?.() !== 0
      ? 'containers need root'
      : !existsSync(IMAGE) && 'the image is missing: run `npm run build:binary` and `npm run build:image`';

t.setTimeout(600_000);

/** Values that a values file of the chart leaves to its user. */
const OPEN_VALUES: Readonly<Record<string, (ports: readonly number[], ctrl: string) => string[]>> = {
  'values-browzer.yaml': ([, wss]) => [
    'edge.additionalListeners[0].name=wss',
    'edge.additionalListeners[0].protocol=wss',
    `edge.additionalListeners[0].containerPort=${wss}`,
    'edge.additionalListeners[0].advertisedHost=wss.example',
    'identity.altServerCerts[0].mode=certManager',
    'identity.altServerCerts[0].secretName=alt',
    'identity.altServerCerts[0].mountPath=/etc/ziti/alt',
    'identity.altServerCerts[0].additionalListenerName=wss',
  ],
  'values-ingress-nginx.yaml': (_ports, ctrl) => [`ctrl.endpoint=${ctrl}`, 'edge.advertisedHost=localhost'],
  'values-traefik-gateway.yaml': () => ['edge.advertisedHost=localhost'],
  'values-traefik-ingressroutetcp.yaml': () => ['edge.advertisedHost=localhost'],
};

interface Pod {
  readonly config: string;
  readonly container: {
    readonly image: string;
    readonly securityContext: Readonly<Record<string, unknown>> | null;
    readonly command: readonly string[];
    readonly args: readonly string[];
    readonly env: readonly { readonly name: string; readonly value: string }[];
    readonly volumeMounts: readonly { readonly mountPath: string; readonly name: string; readonly subPath?: string }[];
    readonly readinessProbe: { readonly exec: { readonly command: readonly string[] } };
    readonly livenessProbe: { readonly exec: { readonly command: readonly string[] } };
  };
  readonly fsGroup: number;
}

function render(files: readonly string[], values: readonly string[]): Pod {
  const given = [...files.flatMap((file) => ['--values', file]), ...values.flatMap((value) => ['--set', value])];
  const text = execFileSync(HELM, ['template', 'r1', CHART, ...given], { encoding: 'utf8' });
  const documents = parseAllDocuments(text).map((each) => each.toJS());
  const kind = (name: string) => documents.find((each) => each?.kind === name);
  const { containers, securityContext } = kind('Deployment').spec.template.spec;
  const [config = ''] = Object.values<string>(kind('ConfigMap').data);
  return { config, container: containers[0], fsGroup: securityContext.fsGroup };
}

function temporary(test: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'edgeweave-chart-'));
  test.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const withValues = skip ? [] : ['', ...readdirSync(CHART).filter((file) => /^values-.*\.yaml$/.test(file))];

for (const file of withValues) {
  t.test(`the pod of ${file || 'the defaults'} starts`, async (t) => {
    await using overlay = await Overlay.start();
    const folder = temporary(t);
    const { id, enrollmentJwt } = await createRouter(overlay.management, { name: 'edge', isTunnelerEnabled: true });
    const ports = await fixedPorts(2);
    const ctrl = overlay.simulator.controlAddress.replace('tls:', '');
    const values = [`enrollmentJwt=${enrollmentJwt}`, `edge.containerPort=${ports[0]}`];
    const open = OPEN_VALUES[file]?.(ports, ctrl) ?? [];
    const pod = render(file === '' ? [] : [join(CHART, file)], [...values, ...open]);

    const checked = join(folder, 'check.yml');
    writeFileSync(checked, pod.config);
    const { findings } = loadRouterConfig(checked, { beforeEnrollment: true });
    t.same(
      findings.filter(({ severity }) => severity === 'error'),
      [],
    );

    const volumes = await makeVolumes(folder, pod);
    const image = ImageRoot.unpack(IMAGE, join(folder, 'root'));
    const env = Object.fromEntries(pod.container.env.map(({ name, value }) => [name, value]));
    const readOnly = Object.keys(volumes).filter((path) => path !== '/etc/ziti/config');
    const start = (entrypoint: readonly string[], args: readonly string[] = []): Container => {
      const container = image.start(args, { entrypoint, env, volumes, readOnly });
      t.teardown(() => container.child.kill('SIGKILL'));
      return container;
    };
    const run = async () => {
      const router = start(pod.container.command, pod.container.args);
      await until('the router is online', async () => {
        const { isOnline } = await overlay.management.edgeRouters.get(id);
        return isOnline;
      }).catch((error: Error) => {
        throw new Error(router.output(), { cause: error });
      });
      for (const { exec } of [pod.container.readinessProbe, pod.container.livenessProbe]) {
        const { ended, output } = start(exec.command);
        t.equal(await ended, 0, output());
      }
      return router;
    };
    const stop = async ({ child, ended, output }: Container) => {
      child.kill('SIGTERM');
      t.equal(await ended, 0, output());
    };
    const first = await run();
    t.notMatch(first.output(), /"level":"error"/);
    await stop(first);
    const certificate = join(folder, 'config-data/r1-router.cert');
    const before = readFileSync(certificate, 'utf8');
    const second = await run();
    await until('renewed certificates', async () => readFileSync(certificate, 'utf8') !== before);
    await stop(second);
  });
}

t.test('our values change the image and the rights of the container only', { skip }, async (t) => {
  const given = ['enrollmentJwt=a.b.c', 'edge.advertisedHost=edge.example'];
  const [before, after] = [render([], given), render([VALUES], given)];
  const { image, securityContext, ...others } = after.container;
  t.equal(image, `registry.example/edgeweave-router:${packageJson.version}`);
  t.match(securityContext, { readOnlyRootFilesystem: true, runAsNonRoot: true });
  const { image: _image, securityContext: _rights, ...othersBefore } = before.container;
  t.same(others, othersBefore);
  t.equal(after.config, before.config);
});

t.test('mode tproxy of the chart is accepted', { skip }, async (t) => {
  const file = join(temporary(t), 'router.yml');
  writeFileSync(
    file,
    render([], ['enrollmentJwt=a.b.c', 'tunnel.mode=tproxy', 'edge.advertisedHost=e.example']).config,
  );
  const { findings } = loadRouterConfig(file, { beforeEnrollment: true });
  t.same(
    findings.filter(({ severity }) => severity === 'error'),
    [],
  );
});

t.test('the examples of the chart are accepted', { skip }, async (t) => {
  const folder = temporary(t);
  const examples = readdirSync(join(CHART, 'examples'));
  t.ok(examples.length > 0);
  for (const each of examples) {
    const file = join(folder, each);
    writeFileSync(file, render([join(CHART, 'examples', each)], ['enrollmentJwt=a.b.c']).config);
    const { findings } = loadRouterConfig(file, { beforeEnrollment: true });
    t.same(
      findings.filter(({ severity }) => severity === 'error'),
      [],
      each,
    );
  }
});

/** Folders and files for the volumes, as the kubelet prepares them: the group of the pod may write. */
async function makeVolumes(folder: string, { config, container, fsGroup }: Pod): Promise<Record<string, string>> {
  const volumes: Record<string, string> = {};
  for (const { mountPath, name, subPath } of container.volumeMounts) {
    const source = join(folder, name);
    mkdirSync(source, { recursive: true });
    if (subPath !== undefined) {
      writeFileSync(join(source, subPath), config, { mode: 0o444 });
      volumes[mountPath] = join(source, subPath);
    } else if (name === 'config-data') {
      chownSync(source, 0, fsGroup);
      chmodSync(source, 0o2775);
      volumes[mountPath] = source;
    } else {
      const { pem, key } = await issue(await makeAuthority('public'), 'wss.example', { hosts: ['wss.example'] });
      writeFileSync(join(source, 'tls.crt'), pem);
      writeFileSync(join(source, 'tls.key'), key.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o440 });
      chownSync(join(source, 'tls.key'), 0, GROUP);
      volumes[mountPath] = source;
    }
  }
  return volumes;
}
