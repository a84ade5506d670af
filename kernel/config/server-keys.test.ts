import { describe, expect, test } from 'bun:test'
import { configSection, definePlugin, formatPath, Type } from '../plugin/index.ts'
import { checkConfig } from './check.ts'
import { asLoaded, check, load, minimal, people, wire } from './config.fixture.ts'
import type { LoadedPlugin } from './loaded.ts'
import { parseConfig } from './parse.ts'

describe('keys of section server that a plugin owns', () => {
  const section = configSection('server', Type.Object({ pace: Type.Integer({ default: 7 }) }))
  const paced = definePlugin({
    manifest: { ...wire.manifest, id: 'plugin.paced', providerTypes: [], sections: [section] },
    setup() {},
  })
  const paces = (server: string) => {
    const { loaded } = check(`server: ${server}\n${minimal}`, {}, asLoaded(paced, wire))
    return loaded?.snapshot.section(section).pace
  }

  test('are checked and filled in, and the plugin reads them there', () => {
    expect([paces('{}'), paces('{ pace: 3, log_format: json }'), paces('{ pace: slow }')]).toEqual([
      7,
      3,
      undefined,
    ])
    expect(load(minimal).server).not.toHaveProperty('pace')
  })

  test('name the built-in that they need, as sections do, when it is not loaded', () => {
    const builtins = { paced, people }
    const parsed = parseConfig(`server: { pace: 3, quay: 1 }\nteams: []\n${minimal}`)
    const resolved = { plugins: asLoaded(wire), problems: [], complete: true }
    const { problems } = checkConfig(parsed, resolved, {}, builtins)
    expect(problems.map(({ path, hint }) => [formatPath(path), hint?.slice(0, 20)])).toEqual([
      ['server.pace', 'load builtin:paced'],
      ['server.quay', 'known keys: bind, lo'],
      ['teams', 'load builtin:people'],
    ])
  })

  test('do not keep it from being left out', () => {
    const [entry, other] = asLoaded(paced, wire)
    const plugins = [{ ...entry, onBootFailure: 'disable' }, other] as LoadedPlugin[]
    expect(check(`server: { pace: 3 }\n${minimal}`, {}, plugins).problems).toEqual([])
  })
})
