import { afterAll, beforeAll, expect, test } from 'bun:test'
import { startTestGateway, type TestGateway, testKey } from '../../harness/gateway.ts'

/** Allowlists of a model, by who is on them. */
const modelLists = {
  none: undefined,
  email: { users: ['list-none@example.com', 'list-asked@example.com', 'list-other@example.com'] },
  team: { teams: ['research'] },
  stranger: { users: ['eve@example.com'], teams: ['sales'] },
}
type ModelList = keyof typeof modelLists

/** A model with an allowlist that is asked for, and its alias or target without one. */
const groups = (Object.keys(modelLists) as ModelList[]).flatMap((list) =>
  (['target', 'alias'] as const).map((kind) => ({
    list,
    asked: `${list}-${kind}-asked`,
    other: `${list}-${kind}-other`,
    kind,
  })),
)
const asked = groups.map((group) => group.asked)
const other = groups.map((group) => group.other)

const models = groups.flatMap(({ list, kind, ...names }) => {
  const allowlist = modelLists[list]
  const routes = [{ provider: 'sim', upstream_model: 'simulator-1' }]
  const [target, alias] =
    kind === 'target' ? [names.asked, names.other] : [names.other, names.asked]
  const closed = allowlist === undefined ? {} : { allowlist }
  return [
    { id: target, routes, ...(kind === 'target' ? closed : {}) },
    { id: alias, alias_of: target, ...(kind === 'alias' ? closed : {}) },
  ]
})

const principalLists = { none: undefined, asked, other } as const
type PrincipalList = keyof typeof principalLists
type Grant = 'all' | 'asked' | 'other'

interface Caller {
  owner: 'user' | 'service_account'
  list: PrincipalList
  grant: Grant
}

const lists = Object.keys(principalLists) as PrincipalList[]
const callers: Caller[] = lists.flatMap((list) => [
  ...(['all', 'asked', 'other'] as const).map((grant) => ({ owner: 'user' as const, list, grant })),
  ...(['asked', 'other'] as const).map((grant) => ({
    owner: 'service_account' as const,
    list,
    grant,
  })),
])

function keyOf({ owner, list, grant }: Caller): string {
  return testKey(`${owner} ${list} ${grant}`)
}

function ownerEntry(owner: Caller['owner'], list: PrincipalList) {
  const allowed = principalLists[list]
  return {
    name: `List ${list}`,
    ...(allowed === undefined ? {} : { model_access: { mode: 'restricted', models: allowed } }),
    api_keys: callers
      .filter((caller) => caller.owner === owner && caller.list === list)
      .map((caller) => ({
        name: caller.grant,
        value: `literal.${keyOf(caller)}`,
        ...(caller.grant === 'all'
          ? { all_models: true }
          : { models: caller.grant === 'asked' ? asked : other }),
      })),
  }
}

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway({
    providers: [{ id: 'sim', type: 'simulator' }],
    models,
    teams: [
      { key: 'research', name: 'Research' },
      { key: 'sales', name: 'Sales' },
    ],
    users: lists.map((list) => ({
      ...ownerEntry('user', list),
      email: `list-${list}@example.com`,
      team: { key: 'research', role: 'member' },
    })),
    service_accounts: lists.map((list) => ({
      ...ownerEntry('service_account', list),
      key: `list-${list}`,
      team: 'research',
      budget: { cadence: 'daily', amount_usd: '1' },
    })),
  })
})

afterAll(() => gateway?.stop())

function mayAsk({ owner, list, grant }: Caller, modelList: ModelList): boolean {
  const granted = grant !== 'other'
  const listed = list !== 'other'
  const open = modelList === 'none' || (owner === 'user' && modelList !== 'stranger')
  return granted && listed && open
}

test.each(callers)('%j: the same answer from a call and from /v1/models', async (caller) => {
  const key = keyOf(caller)
  const list = (await gateway.openai(key).models.list()).data.map(({ id }) => id)
  for (const group of groups) {
    const allowed = mayAsk(caller, group.list)
    const response = await gateway.post(
      '/v1/chat/completions',
      { model: group.asked, messages: [{ role: 'user', content: 'hi' }] },
      { authorization: `Bearer ${key}` },
    )
    const body = await response.json()
    expect([group.asked, response.status]).toEqual([group.asked, allowed ? 200 : 403])
    if (!allowed) expect(body).toMatchObject({ error: { code: 'model_not_granted' } })
    expect([group.asked, list.includes(group.asked)]).toEqual([group.asked, allowed])
  }
})
