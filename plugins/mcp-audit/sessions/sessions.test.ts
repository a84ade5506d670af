import { expect, test } from 'bun:test'
import { createSessions, sessionHash } from './sessions.ts'
import { type SessionStore, sessionKey } from './store.ts'

const ada = { serverId: 'server', ownershipScopeKey: 'user:ada' }
const eve = { serverId: 'server', ownershipScopeKey: 'user:eve' }

function start() {
  const kept = new Map<string, string>()
  const asked: string[] = []
  const store: SessionStore = {
    async bind(serverId, hash, owner) {
      const key = sessionKey(serverId, hash)
      if (!kept.has(key)) kept.set(key, owner)
      return kept.get(key) as string
    },
    async find(serverId, hash) {
      asked.push(sessionKey(serverId, hash))
      return kept.get(sessionKey(serverId, hash))
    },
    async remove(serverId, hash) {
      kept.delete(sessionKey(serverId, hash))
    },
    async prune() {},
    listen: async () => () => {},
  }
  const sessions = createSessions(
    store,
    (work) => work(),
    () => {},
  )
  return {
    sessions,
    store,
    kept,
    asked,
    key: (id: string) => sessionKey('server', sessionHash(id)),
  }
}

test('a session id of another owner is not bound, and keeps its owner', async () => {
  const { sessions } = start()
  await sessions.bind('s', ada)
  await expect(sessions.bind('s', eve)).rejects.toMatchObject({ code: 'upstream_http_error' })
  expect(await sessions.ownerOf('server', 's')).toEqual(ada)
})

test('an owner that is known is not asked for again', async () => {
  const { sessions, kept, asked, key } = start()
  kept.set(key('s'), 'user:ada')
  expect(await sessions.ownerOf('server', 's')).toEqual(ada)
  expect(await sessions.ownerOf('server', 's')).toEqual(ada)
  await sessions.bind('t', ada)
  expect(await sessions.ownerOf('server', 't')).toEqual(ada)
  expect(asked).toEqual([key('s')])
})

test('a session that has no owner is asked for each time', async () => {
  const { sessions, kept, key } = start()
  expect(await sessions.ownerOf('server', 's')).toBeUndefined()
  kept.set(key('s'), 'user:ada')
  expect(await sessions.ownerOf('server', 's')).toEqual(ada)
})

test('a cached owner is forgotten when the session ends, on any replica', async () => {
  const { sessions, kept, key } = start()
  for (const id of ['a', 'b', 'c']) await sessions.bind(id, ada)
  sessions.unbind('server', 'a')
  kept.delete(key('b'))
  sessions.forget(key('b'))
  kept.delete(key('c'))
  const owners = () => Promise.all(['a', 'b', 'c'].map((id) => sessions.ownerOf('server', id)))
  expect(await owners()).toEqual([undefined, undefined, ada])
  sessions.forgetAll()
  expect(await owners()).toEqual([undefined, undefined, undefined])
})

test('a look-up during the end of the session is not cached', async () => {
  const ends = ['forget', 'forgetAll', 'unbind'] as const
  for (const end of ends) {
    const { sessions, store, key } = start()
    const found = Promise.withResolvers<string>()
    store.find = () => found.promise
    const asking = sessions.ownerOf('server', 's')
    if (end === 'unbind') sessions.unbind('server', 's')
    else sessions[end](key('s'))
    found.resolve('user:ada')
    await asking
    // The server gives its id to another owner.
    store.find = async () => 'user:eve'
    expect(await sessions.ownerOf('server', 's')).toEqual(eve)
  }
})
