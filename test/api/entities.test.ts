// The life cycle of every kind of entity in the management and fabric APIs: create, read, patch, replace, reject,
// delete. cascades.test.ts tests cascades of deletions.

import t, { type Test } from 'tap';
import { createLog } from '#lib/log/log.ts';
import { type ApiAnswer, ApiClient, filtered } from '../support/clients/api-client.ts';
import { allKinds } from '../support/kinds/all.ts';
import { type Fields, type Kind, known, type Rejection } from '../support/kinds/kind.ts';

/** Fields that every write changes. */
const MOVING = ['updatedAt', 'version'];

function without(fields: Fields, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

/** A patch of an auth policy merges nested fields, other patches replace whole fields. */
function patched(detail: Fields, patch: Fields): Fields {
  const { primary, ...fields } = patch as { primary?: Record<string, Fields> };
  const parts = Object.entries(primary ?? {}).map(([name, part]) => [
    name,
    { ...(detail.primary as Record<string, Fields>)[name], ...part },
  ]);
  return { ...fields, ...(primary && { primary: { ...(detail.primary as Fields), ...Object.fromEntries(parts) } }) };
}

/** The fields or texts to which an error refers. */
function places({ cause }: ApiAnswer): string {
  return [cause?.field, cause?.reason, cause?.message].join(' ');
}

async function reject(
  t: Test,
  api: ApiClient,
  { path, create }: Kind,
  rejections: readonly Rejection[],
): Promise<void> {
  for (const [change, status, code, place = /./] of rejections) {
    const answer = await api.manage('POST', path, { ...create, ...change });
    t.match(
      { status: answer.status, code: answer.code, place: places(answer) },
      { status, code, place },
      JSON.stringify(change),
    );
  }
}

/** An entity of a kind that was created, as the API first answered it. */
interface Created {
  readonly id: string;
  readonly at: string;
  readonly first: Fields;
}

async function requireFields(t: Test, api: ApiClient, { path, create, required }: Kind): Promise<void> {
  for (const field of required) {
    const answer = await api.manage('POST', path, without(create, [field]));
    t.match(answer, { status: 400, cause: { field } }, `${field} is missing`);
  }
}

async function create(t: Test, api: ApiClient, { path, create, expected = {}, hidden = [] }: Kind): Promise<Created> {
  const made = await api.manage('POST', path, create);
  t.equal(made.status, 201, made.text);
  const { id, _links } = made.data as { id: string; _links: { self: { href: string } } };
  const at = `${path}/${id}`;
  t.ok(_links.self.href.endsWith(`/${id}`));
  const first = await api.get<Fields>(at);
  t.match(first, { id, ...without(create, [...hidden, ...Object.keys(expected)]), ...expected });
  for (const name of hidden) t.notOk(name in first, `${name} is hidden`);
  t.match(await api.get<Fields[]>(filtered(path, `id = "${id}"`)), [{ id }]);
  return { id, at, first };
}

async function rejectConflicts(t: Test, api: ApiClient, kind: Kind, { at, first }: Created): Promise<void> {
  await reject(t, api, kind, kind.conflicts ?? []);
  if (kind.duplicate) {
    const [field, reason] = kind.duplicate;
    const answer = await api.manage('POST', kind.path, kind.create);
    t.match(answer, { status: 400, code: 'COULD_NOT_VALIDATE', cause: { field, reason } });
  }
  t.same(await api.get(at), first, 'rejected requests change nothing');
}

async function patchFields(t: Test, api: ApiClient, patch: Fields, { at, first }: Created): Promise<void> {
  if (patch.typeId === undefined) {
    const nothing = await api.manage('PATCH', at, { name: null });
    t.match(nothing, { status: 400, code: 'UNHANDLED', cause: { message: 'no fields updated, nothing to do' } });
  }
  t.match(await api.manage('PATCH', at, patch), { status: 200, data: {} });
  const names = Object.keys(patch).flatMap((name) => [name, `${name}Display`]);
  const second = await api.get<Fields>(at);
  t.match(second, patched(first, patch));
  t.same(without(second, [...MOVING, ...names]), without(first, [...MOVING, ...names]), 'other fields stay');
}

async function replace(t: Test, api: ApiClient, kind: Kind, put: Fields, { id, at }: Created): Promise<void> {
  const { required, hidden = [], expected = {}, cleared = {} } = kind;
  for (const field of Object.keys(put).filter((name) => required.includes(name) && name !== 'encryptionRequired')) {
    const answer = await api.manage('PUT', at, without(put, [field]));
    t.match(answer, { status: 400, code: 'COULD_NOT_VALIDATE', cause: { field } }, `PUT without ${field}`);
  }
  t.match(await api.manage('PUT', at, put), { status: 200, data: {} });
  const set = without(put, [...hidden, ...Object.keys({ ...expected, ...cleared })]);
  t.match(await api.get(at), { id, ...set, ...cleared });
}

async function remove(t: Test, api: ApiClient, { patch, put }: Kind, { id, at }: Created): Promise<void> {
  t.match(await api.manage('DELETE', at), { status: 200, data: {} });
  const requests: [method: string, body?: Fields][] = [['GET'], ['DELETE']];
  if (put) requests.push(['PUT', put]);
  if (patch) requests.push(['PATCH', patch]);
  for (const [method, body] of requests) {
    const answer = await api.manage(method, at, body);
    t.match(answer, { status: 404, code: 'NOT_FOUND', cause: { message: `with id ${id} not found` } }, method);
  }
}

t.test('the life of each kind of entity', async (t) => {
  await using api = await ApiClient.start();
  for (const kind of allKinds(await known(api))) {
    await t.test(`${kind.path} ${String(kind.create.typeId ?? '')}`.trim(), async (t) => {
      await requireFields(t, api, kind);
      await reject(t, api, kind, kind.rejections ?? []);
      const created = await create(t, api, kind);
      await rejectConflicts(t, api, kind, created);
      if (kind.patch) await patchFields(t, api, kind.patch, created);
      if (kind.put) await replace(t, api, kind, kind.put, created);
      await remove(t, api, kind, created);
    });
  }
});

t.test(
  'tags hold no lists or maps: they are dropped with a warning, or rejected where the reference fails',
  async (t) => {
    const lines: string[] = [];
    await using api = await ApiClient.start({ log: createLog({ level: 'warn', write: (line) => lines.push(line) }) });
    const tags = { list: ['x'], map: { a: 1 }, text: 'x', number: 1.5, flag: true, nothing: null };
    const stored = { text: 'x', number: 1.5, flag: true, nothing: null };
    const service = await api.create('/services', { name: 'service', encryptionRequired: true, tags });
    t.same((await api.get(`/services/${service}`)).tags, stored);
    t.match(lines.join(''), /"tag":"list","total":2,.*lists or maps are dropped/);
    await api.change('PATCH', `/services/${service}`, { tags: { map: {} } });
    t.same((await api.get(`/services/${service}`)).tags, {});
    await api.change('PUT', `/services/${service}`, { name: 'service', tags });
    t.same((await api.get(`/services/${service}`)).tags, stored);

    const appData = { a: { deep: [1] } };
    const id = await api.create('/identities', { name: 'user', type: 'User', isAdmin: false, appData });
    t.same((await api.get(`/identities/${id}`)).appData, appData, 'app data of identities may be nested');
    const rejected = { status: 400, code: 'UNHANDLED', cause: { message: /^appData cannot hold lists or maps: a;/ } };
    t.match(await api.manage('POST', '/edge-routers', { name: 'router', appData }), rejected);
    const router = await api.create('/edge-routers', { name: 'router', appData: stored });
    t.match(await api.manage('PATCH', `/edge-routers/${router}`, { appData }), rejected);
    t.same((await api.get(`/edge-routers/${router}`)).appData, stored);
    await api.openPolicies();
    const session = { serviceId: service, type: 'Dial', tags };
    t.match(await api.ask('POST', '/sessions', { token: api.token, body: session }), {
      status: 400,
      code: 'UNHANDLED',
    });
  },
);

t.test('keys that are too long for the index of a database are rejected, with their field', async (t) => {
  await using api = await ApiClient.start();
  const MAX = 32_768;
  const long = 'x'.repeat(MAX + 1);
  const reject = async (path: string, body: Fields, field: string, max = MAX): Promise<void> => {
    const { status, code, cause } = await api.manage('POST', path, body);
    t.same([status, code], [400, 'UNHANDLED'], `${path} ${field}`);
    t.match(
      cause?.message,
      new RegExp(`^key too large: ${field} has \\d+ bytes, at most ${max} are possible: .{1,150}$`),
    );
  };
  let kinds = 0;
  for (const { path, create, duplicate } of allKinds(await known(api))) {
    if (duplicate?.[0] !== 'name') continue;
    kinds += 1;
    await reject(path, { ...create, name: long }, 'name');
    if (create.roleAttributes)
      await reject(path, { ...create, roleAttributes: [long.slice(1)] }, 'roleAttributes', MAX - 1);
    for (const field of Object.keys(create).filter((name) => name.endsWith('Roles')))
      if (path !== '/cas') await reject(path, { ...create, [field]: [`#${long.slice(2)}`] }, field, MAX - 1);
  }
  t.ok(kinds > 8);
  const service = { name: 'service', encryptionRequired: true };
  await reject('/services', { ...service, name: 'é'.repeat(MAX / 2 + 1) }, 'name');
  await reject('/services', { ...service, tags: { [long]: 1 } }, 'tags');
  await reject('/identities', { name: 'i', type: 'User', isAdmin: false, externalId: long }, 'externalId');
  const id = await api.create('/services', { ...service, name: long.slice(1), tags: { text: long } });
  t.match(await api.manage('PATCH', `/services/${id}`, { name: long }), { status: 400, code: 'UNHANDLED' });
});
