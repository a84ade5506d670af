import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { type McpAuthDeclaration, type McpAuthMode, mcpAuthModes } from 'model-gateway/mcp'
import { GatewayError, type JsonObject } from 'model-gateway/plugin'
import {
  type AnyPlugin,
  expectNothingIn,
  frozen,
  TEST_MS,
  textOf,
  thrownBy,
  within,
} from './kit.ts'
import { type PluginBench, setUpPlugin } from './plugin-bench.ts'
import { looseObjects } from './schemas.ts'

/** A server as it is being declared. */
export interface AuthDeclaration {
  readonly authConfig: JsonObject
  /** Default: an https address. */
  readonly serverUrl?: string
}

export interface McpAuthModeKit {
  readonly plugin: AnyPlugin
  readonly mode: string
  /** Declarations that are right. */
  readonly valid: readonly AuthDeclaration[]
  /** Declarations that are wrong, each with the field that is: `auth_config.header_name`. */
  readonly invalid?: readonly (AuthDeclaration & { readonly field: string })[]
  /** For a mode in which the gateway authenticates: what it sends when the environment is this. */
  readonly sends?: readonly {
    readonly authConfig: JsonObject
    readonly env?: Readonly<Record<string, string>>
    readonly headers: Readonly<Record<string, string>>
  }[]
}

const HTTPS = 'https://mcp.example.test/mcp'

/** What every MCP auth mode has to do, as tests. Call it once for a mode. */
export function testMcpAuthMode(kit: McpAuthModeKit): void {
  describe(`contract of the MCP auth mode ${kit.mode}`, () => {
    let bench: PluginBench
    let mode: McpAuthMode

    beforeAll(async () => {
      bench = await setUpPlugin({ plugin: kit.plugin })
      const found = bench.of(mcpAuthModes).find((each) => each.mode === kit.mode)
      if (found === undefined) throw bench.error ?? new Error(`nothing provides ${kit.mode}`)
      mode = found
    }, TEST_MS)
    afterAll(() => bench?.dispose())

    /** Fields that are wrong, by the schema and then by the mode itself. */
    function problemsOf({ authConfig, serverUrl = HTTPS }: AuthDeclaration): string[] {
      const shape = [...Value.Errors(mode.configSchema, authConfig)]
      if (shape.length > 0)
        return shape.map(({ path }) => `auth_config${path.replaceAll('/', '.')}`)
      const declaration: McpAuthDeclaration = {
        serverUrl: new URL(serverUrl),
        authConfig: frozen(structuredClone(authConfig)),
        plainHttpAllowed: false,
      }
      return [...mode.validate(declaration)].map(({ field, message }) => {
        expect(message).toBeString()
        expect(message).not.toBe('')
        return field
      })
    }

    async function send(authConfig: JsonObject, env: Readonly<Record<string, string>>) {
      if (mode.kind !== 'gateway') throw new Error('in this mode the caller authenticates')
      const before = Object.keys(env).map((name) => [name, process.env[name]] as const)
      Object.assign(process.env, env)
      try {
        const server = { serverKey: 'docs', authConfig: frozen(structuredClone(authConfig)) }
        const headers = mode.headers(server, new AbortController().signal)
        return await within('the headers come', headers)
      } finally {
        for (const [name, value] of before) {
          if (value === undefined) delete process.env[name]
          else process.env[name] = value
        }
      }
    }

    test('its auth_config refuses unknown members', () => {
      expectNothingIn(
        looseObjects(mode.configSchema, 'auth_config').map((path) => `${path} is open`),
      )
      for (const { authConfig } of kit.valid) {
        expect(problemsOf({ authConfig: { ...authConfig, nobody_knows: 1 } })).not.toEqual([])
      }
    })

    test('right declarations are let pass, twice the same', () => {
      expect(kit.valid.length).toBeGreaterThan(0)
      for (const declaration of kit.valid) {
        expect(problemsOf(declaration)).toEqual([])
        expect(problemsOf(declaration)).toEqual([])
      }
    })

    test('wrong declarations are refused, the field named', () => {
      for (const declaration of kit.invalid ?? []) {
        expect(problemsOf(declaration)).toContain(declaration.field)
      }
    })

    test('who authenticates is who it says', () => {
      const { kind } = mode
      expect(kind === 'gateway').toBe(kit.sends !== undefined)
      expect('headers' in mode).toBe(kind === 'gateway')
    })

    for (const { authConfig, env = {}, headers } of kit.sends ?? []) {
      const secrets = Object.values(env)

      test(`it sends ${Object.keys(headers).join(', ') || 'nothing'}`, async () => {
        expect(await send(authConfig, env)).toEqual(headers)
      })

      test('header names are in lower case, values can stand in a header', async () => {
        for (const [name, value] of Object.entries(await send(authConfig, env))) {
          expect(name).toMatch(/^[!#$%&'*+.^_`|~0-9a-z-]+$/)
          expect(value).toMatch(/^[\x20-\x7e]*$/)
        }
      })

      if (secrets.length === 0) continue

      test('the secret is read anew for each call', async () => {
        const first = await send(authConfig, env)
        const other = Object.fromEntries(Object.keys(env).map((name) => [name, 'another-secret']))
        expect(await send(authConfig, other)).not.toEqual(first)
      })

      test('a secret that is missing or unfit is an internal_error that shows none', async () => {
        for (const unfit of ['', 'two\r\nlines: canary-5d1f7c', 'cänary-5d1f7c']) {
          const spoilt = Object.fromEntries(Object.keys(env).map((name) => [name, unfit]))
          const error = await thrownBy(() => send(authConfig, spoilt))
          expect(error).toBeInstanceOf(GatewayError)
          expect((error as GatewayError).code).toBe('internal_error')
          expect(textOf(error)).not.toContain('nary-5d1f7c')
        }
      })

      test('no secret is logged', () => {
        expectNothingIn(
          secrets.filter((value) => bench.output().includes(value)).map(() => 'one was logged'),
        )
      })
    }
  })
}
