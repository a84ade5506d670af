import { expect, test } from 'bun:test'
import type { Principal } from '../plugin/index.ts'
import { accessFault, mayUse } from './access.ts'
import type { GatewayModel } from './catalog.ts'

const ada = { kind: 'user', email: 'a@b.c', team: { id: 't', key: 'red' } }
const bob = { kind: 'user', email: 'd@e.f', team: undefined }
const bot = { kind: 'service_account', team: { id: 't', key: 'red' } }
const only = (...names: string[]) => new Set(names)

test.each([
  [{}, undefined, undefined],
  [{ grants: only('m'), allowlists: [only('m'), only('m', 'n')] }, undefined, undefined],
  [{ grants: only('n') }, undefined, 'the key has no grant for the model'],
  [
    { allowlists: [only('m'), only('n')] },
    undefined,
    'the allowlist of the owner or team lacks the model',
  ],
  [{ owner: ada }, { users: only(), teams: only('red') }, undefined],
  [{ owner: bob }, { users: only('d@e.f'), teams: only() }, undefined],
  [
    { owner: bob },
    { users: only('a@b.c'), teams: only('red') },
    'the allowlist of the model has neither the user nor the team',
  ],
  [{ owner: bot }, { users: only(), teams: only('red') }, 'the model is for users and teams only'],
])('%j and an allowlist of %j: %p', (who, allowlist, fault) => {
  const caller = { grants: 'all', allowlists: [], owner: ada, ...who } as unknown as Principal
  const model = { id: 'm', allowlist } as unknown as GatewayModel
  expect(accessFault(caller, model)).toBe(fault)
  expect(mayUse(caller, model)).toBe(fault === undefined)
})
