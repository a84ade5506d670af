import { expect, test } from 'bun:test'
import { type AdminClient, adminClient } from '../../harness/admin.ts'
import { eventually, testKey } from '../../harness/gateway.ts'
import { type GatewayProcess, spawnGateway } from '../../harness/process.ts'

const keys = { laptop: testKey('laptop'), desktop: testKey('desktop'), ci: testKey('ci') }

/** A config of which everything that config can say of people differs from `version` to `version`. */
function config(version: number) {
  const key = (name: keyof typeof keys, models: string[]) => ({
    name,
    value: `literal.${keys[name]}`,
    models,
  })
  return {
    providers: [{ id: 'sim', type: 'simulator' }],
    models: ['demo', 'other'].map((id) => ({
      id,
      routes: [{ provider: 'sim', upstream_model: 'simulator-1' }],
    })),
    teams: [
      { key: 'core', name: `Core ${version}`, model_access: { mode: 'all' } },
      { key: 'crew', name: 'Crew' },
    ],
    users: [
      {
        name: `Ada ${version}`,
        email: 'ada@example.com',
        role: 'platform_admin',
        team: { key: 'core', role: 'owner' },
        request_logging_enabled: version % 2 === 0,
        model_access: { mode: 'all' },
        api_keys: [key('laptop', ['demo', 'other']), key('desktop', ['demo'])],
      },
      { name: `Eve ${version}`, email: 'eve@example.com' },
    ],
    service_accounts: [
      {
        key: 'ci',
        name: `CI ${version}`,
        team: 'core',
        budget: { cadence: 'daily', amount_usd: '1' },
        api_keys: [key('ci', ['demo'])],
      },
    ],
  }
}

async function codeOf(gateway: GatewayProcess, key: string) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  if (response.status === 200) return 'served'
  return ((await response.json()) as { error: { code: string } }).error.code
}

interface Item {
  readonly user_id: string
  readonly team_id: string
  readonly service_account_id: string
  readonly api_key_id: string
  readonly email: string
  readonly name: string
  readonly key: string
}

async function find(admin: AdminClient, list: string, matches: (item: Item) => boolean) {
  const { items } = await admin.get<{ items: Item[] }>(`/api/v1/admin/${list}`)
  const found = items.find(matches)
  if (found === undefined) throw new Error(`nothing like that is in ${list}`)
  return found
}

test('what an admin did is never undone by the config file, at a reload or a restart', async () => {
  const gateway = await spawnGateway(config(1))
  try {
    const admin = await adminClient(gateway)
    const ada = await find(admin, 'users', ({ email }) => email === 'ada@example.com')
    const eve = await find(admin, 'users', ({ email }) => email === 'eve@example.com')
    const core = await find(admin, 'teams', ({ key }) => key === 'core')
    const crew = await find(admin, 'teams', ({ key }) => key === 'crew')
    const ci = await find(admin, 'service-accounts', ({ key }) => key === 'ci')
    const laptop = await find(admin, 'api-keys', ({ name }) => name === 'laptop')
    const desktop = await find(admin, 'api-keys', ({ name }) => name === 'desktop')
    const path = (list: string, id: string) => `/api/v1/admin/${list}/${id}`

    await admin.patch(path('users', ada.user_id), {
      role: 'user',
      team: { team_id: crew.team_id, role: 'member' },
      model_access: { mode: 'restricted', models: ['demo'] },
      password: 'the password an admin gave',
    })
    await admin.patch(path('users', eve.user_id), { status: 'disabled' })
    await admin.patch(path('teams', core.team_id), { name: 'Renamed' })
    await admin.patch(path('service-accounts', ci.service_account_id), {
      model_access: { mode: 'restricted', models: ['demo'] },
    })
    await admin.patch(path('api-keys', laptop.api_key_id), { granted_models: ['demo'] })
    await admin.post(`${path('api-keys', laptop.api_key_id)}/rotate`, { grace_secs: 0 })
    await admin.post(`${path('api-keys', desktop.api_key_id)}/revoke`)

    async function check(url: AdminClient, version: number) {
      expect(await url.get(path('users', ada.user_id))).toMatchObject({
        // What the admin left alone still follows the file.
        name: `Ada ${version}`,
        request_logging_enabled: version % 2 === 0,
        role: 'user',
        team: { key: 'crew', role: 'member' },
        model_access: { mode: 'restricted', models: ['demo'] },
        has_password: true,
      })
      expect(await url.get(path('users', eve.user_id))).toMatchObject({
        name: `Eve ${version}`,
        status: 'disabled',
      })
      expect(await url.get(path('teams', core.team_id))).toMatchObject({ name: 'Renamed' })
      expect(await url.get(path('service-accounts', ci.service_account_id))).toMatchObject({
        name: `CI ${version}`,
        model_access: { mode: 'restricted', models: ['demo'] },
      })
      expect(await url.get(path('api-keys', laptop.api_key_id))).toMatchObject({
        granted_models: ['demo'],
      })
      expect(await codeOf(gateway, keys.laptop)).toBe('api_key_secret_mismatch')
      expect(await codeOf(gateway, keys.desktop)).toBe('api_key_revoked')
      expect(await codeOf(gateway, keys.ci)).toBe('served')
    }

    await check(admin, 1)
    const before = gateway.logs.length
    gateway.rewrite(config(2))
    gateway.signal('SIGHUP')
    await eventually(async () =>
      gateway.logs.slice(before).some(({ msg }) => msg === 'the new config is active')
        ? true
        : undefined,
    )
    await check(admin, 2)
    const warned = gateway.logs
      .slice(before)
      .map(({ path, msg }) => `${path}: ${msg}`)
      .filter((line) => line.includes('administrator') || line.includes('revoked'))
    expect(warned.toSorted()).toEqual([
      'teams[0]: an administrator has set its name, so the value in the file is ignored',
      'users[0].api_keys[0].value: the key laptop was rotated by an administrator, so this value is ignored',
      'users[0].api_keys[0]: an administrator has set its grants, so the value in the file is ignored',
      'users[0].api_keys[1]: the key desktop was revoked and stays revoked',
      'users[0].team: an administrator has set its team, so the value in the file is ignored',
      'users[0]: an administrator has set its model_access, so the value in the file is ignored',
      'users[0]: an administrator has set its role, so the value in the file is ignored',
      'users[1]: eve@example.com was disabled by an administrator and stays disabled',
    ])

    await gateway.end()
    await gateway.restart()
    await check(await adminClient(gateway), 2)
  } finally {
    await gateway.remove()
  }
}, 60_000)

test('what an admin made stays as it was made when a file names it later', async () => {
  const basis = { providers: config(1).providers, models: config(1).models }
  const gateway = await spawnGateway(basis)
  try {
    const admin = await adminClient(gateway)
    const made = await makePeople(admin)
    const issued = await admin.post<Item & { api_key: string }>('/api/v1/admin/api-keys', {
      name: 'issued',
      owner: { kind: 'user', user_id: made.carol.user_id },
      granted_models: ['demo'],
    })
    const lists = ['users', 'teams', 'service-accounts', 'api-keys']
    const views = async () => {
      const items = await Promise.all(
        lists.map((list) => admin.get<{ items: object[] }>(`/api/v1/admin/${list}`)),
      )
      return items.flatMap((list) => list.items.map(withoutTraces))
    }
    const before = await views()

    const load = async (sections: object) => {
      const from = gateway.logs.length
      gateway.rewrite({ ...basis, ...sections })
      gateway.signal('SIGHUP')
      await eventually(async () =>
        gateway.logs.slice(from).some(({ msg }) => msg === 'the new config is active')
          ? true
          : undefined,
      )
      return gateway.logs
        .slice(from)
        .filter(({ level }) => Number(level) >= 40)
        .map(({ path, msg }) => `${path}: ${msg}`)
        .toSorted()
    }
    const restricted = { mode: 'restricted', models: ['other', 'demo'] }
    const budget = { cadence: 'daily', amount_usd: '5' }
    const same = {
      teams: [{ key: 'ops', name: 'Ops', model_access: restricted }],
      users: [
        {
          name: 'Carol',
          email: 'carol@example.com',
          role: 'platform_admin',
          request_logging_enabled: false,
          model_access: restricted,
          team: { key: 'ops' },
          api_keys: [{ name: 'issued', value: `literal.${issued.api_key}`, models: ['demo'] }],
        },
      ],
      service_accounts: [
        { key: 'bot', name: 'Bot', team: 'ops', model_access: restricted, budget },
      ],
    }
    expect(await load(same)).toEqual([])
    expect(await views()).toEqual(before)

    const all = { mode: 'all' }
    const other = {
      teams: [
        { key: 'ops', name: 'Other', model_access: all },
        { key: 'new', name: 'New' },
      ],
      users: [
        {
          name: 'Other',
          email: 'carol@example.com',
          role: 'user',
          request_logging_enabled: true,
          model_access: all,
          team: { key: 'new', role: 'member' },
          api_keys: [{ name: 'other', value: `literal.${issued.api_key}x`, all_models: true }],
        },
      ],
      service_accounts: [{ key: 'bot', name: 'Other', team: 'new', model_access: all, budget }],
    }
    const kept = (of: string, ...fields: string[]) =>
      fields.map(
        (field) =>
          `${of}: an administrator has set its ${field}, so the value in the file is ignored`,
      )
    const warnings = [
      ...kept('service_accounts[0]', 'model_access', 'name', 'team'),
      ...kept('teams[0]', 'model_access', 'name'),
      ...kept('users[0]', 'model_access', 'name', 'request_logging_enabled', 'role'),
      ...kept('users[0].api_keys[0]', 'grants', 'name', 'secret'),
      ...kept('users[0].team', 'team'),
    ].toSorted()
    expect(await load(other)).toEqual(warnings)
    expect((await views()).filter((view) => !('key' in view && view.key === 'new'))).toEqual(before)
    expect(await codeOf(gateway, issued.api_key)).toBe('served')
    expect(await load(other)).toEqual(warnings)
  } finally {
    await gateway.remove()
  }
}, 60_000)

test('the e-mail address of a user can change once the file no longer names it', async () => {
  const gateway = await spawnGateway(config(1))
  try {
    const admin = await adminClient(gateway)
    const eve = await find(admin, 'users', ({ email }) => email === 'eve@example.com')
    const path = `/api/v1/admin/users/${eve.user_id}`
    const body = { email: 'eve.adams@example.com' }
    expect((await admin.refused('PATCH', path, body))[0]).toBe(409)

    const left = config(1)
    gateway.rewrite({ ...left, users: left.users.slice(0, 1) })
    gateway.signal('SIGHUP')
    const changed = async () => {
      const { status } = await admin.request('PATCH', path, body)
      return status === 200 || undefined
    }
    await eventually(changed, 5_000)
    expect(await admin.get(path)).toMatchObject(body)
  } finally {
    await gateway.remove()
  }
}, 60_000)

async function makePeople(admin: AdminClient) {
  const model_access = { mode: 'restricted', models: ['demo', 'other'] }
  const ops = await admin.post<Item>('/api/v1/admin/teams', {
    key: 'ops',
    name: 'Ops',
    model_access,
  })
  const carol = await admin.post<Item>('/api/v1/admin/users', {
    name: 'Carol',
    email: 'carol@example.com',
    role: 'platform_admin',
    request_logging_enabled: false,
    model_access,
    team: { team_id: ops.team_id, role: 'owner' },
  })
  await admin.post('/api/v1/admin/service-accounts', {
    key: 'bot',
    name: 'Bot',
    team_id: ops.team_id,
    model_access,
    budget: { cadence: 'daily', amount_usd: '5' },
  })
  return { carol }
}

/** A view without what changes when a file names the thing, or a call uses it. */
function withoutTraces(view: object): object {
  const { from_config, updated_at, last_used_at, ...rest } = view as Record<string, unknown>
  return rest
}
