/** Faults of packs, managed checks and MCP auth modes. */

import {
  CheckFailure,
  type GuardrailPack,
  type ManagedCheck,
  managedCheckKinds,
} from 'model-gateway/guardrail'
import { type McpGatewayAuthMode, mcpAuthModes } from 'model-gateway/mcp'
import { Type } from 'model-gateway/plugin'
import checkPlugin from '../../../plugins/plugin-kit/templates/managed-check/src/index.ts'
import authPlugin from '../../../plugins/plugin-kit/templates/mcp-auth-mode/src/index.ts'
import { sampleNamePack } from '../../../plugins/plugin-kit/templates/pack/src/pack.ts'
import { json } from '../../harness/upstream.ts'
import { withFault } from '../faults.ts'
import { testGuardrailPack } from '../guardrail-pack.ts'
import type { AnyPlugin } from '../kit.ts'
import { testManagedCheck } from '../managed-check.ts'
import { testMcpAuthMode } from '../mcp-auth-mode.ts'
import { type Planted, spoilt } from './planted.ts'

const packFolder = new URL('../../../plugins/plugin-kit/templates/pack', import.meta.url).pathname
const pack = (change: Partial<GuardrailPack>) => () =>
  testGuardrailPack({ pack: { ...sampleNamePack, ...change }, folder: packFolder, atLeast: 10 })

const judge = sampleNamePack.evaluate
let verdicts = 0

export const plantedPacks: readonly Planted[] = [
  {
    fault: 'a pack that allows everything',
    rule: 'judges its cases as they say',
    run: pack({ evaluate: () => undefined, explain: () => ({ reading: null, match: undefined }) }),
  },
  {
    fault: 'a pack that quotes what it was shown',
    rule: 'never quotes what it was shown',
    run: pack({
      evaluate(input) {
        const match = judge(input)
        return match && { ...match, description: JSON.stringify(input) }
      },
    }),
  },
  {
    fault: 'a pack that throws for what it does not know',
    rule: 'never throws, whatever it is given',
    run: pack({
      evaluate(input) {
        if (input.kind === 'tool_call') void String(input.arguments.command).trim().at(0)?.length
        if (input.kind === 'command' && input.command.length > 50_000) throw new Error('too long')
        return judge(input)
      },
    }),
  },
  {
    fault: 'a pack that changes its mind',
    rule: 'is pure: frozen input, the same verdict again, and explained the same',
    run: pack({ evaluate: (input) => (verdicts++ % 2 === 0 ? judge(input) : undefined) }),
  },
  {
    fault: 'a pack that writes to its input',
    rule: 'is pure: frozen input, the same verdict again, and explained the same',
    run: () =>
      testGuardrailPack({
        pack: withFault(sampleNamePack, 'evaluate', { kind: 'mutate' }),
        folder: packFolder,
        atLeast: 10,
      }),
  },
]

type Evaluate = ManagedCheck['evaluate']

function checkKit(plugin: AnyPlugin) {
  testManagedCheck({
    plugin,
    kind: 'sample_name',
    config: (url) => ({ url: `${url}/judge`, api_key: 'literal.canary-4711' }),
    answers: { allow: json({ verdict: 'allow' }), deny: json({ verdict: 'block' }) },
  })
}

/** Runs the kit over the template's check with another `evaluate`. */
const check = (make: (sound: Evaluate, url: string, key: string) => Evaluate) => () =>
  checkKit(
    spoilt(checkPlugin, managedCheckKinds, (kind) => ({
      ...kind,
      async create(config: Parameters<typeof kind.create>[0]) {
        const { evaluate } = await kind.create(config)
        return { evaluate: make(evaluate, config.url, config.api_key.reveal()) }
      },
    })),
  )

async function post(url: string, key: string, text: string, more: RequestInit) {
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body: JSON.stringify({ text }),
    ...more,
  })
  const answer = (await response.json()) as { verdict: string }
  return answer.verdict === 'block'
    ? ({ action: 'deny', reasonCode: 'sample_name.blocked' } as const)
    : ({ action: 'allow' } as const)
}

let lastText = ''

export const plantedChecks: readonly Planted[] = [
  {
    fault: 'a check that allows what it does not understand',
    rule: 'a malformed answer is a CheckFailure managed.malformed_response',
    run: check(
      (sound) => (asked) =>
        sound(asked).catch((error) => {
          if (error.reason === 'managed.malformed_response') return { action: 'allow' }
          throw error
        }),
    ),
  },
  {
    fault: 'a check that throws plain errors',
    rule: 'a broken connection is a CheckFailure managed.unavailable',
    run: check(
      (_, url, key) =>
        ({ text, signal }) =>
          post(url, key, text, { signal }),
    ),
  },
  {
    fault: 'a check that hangs when its signal aborts',
    rule: 'an abort ends the call of the service, whether its answer has begun or not',
    run: check(
      (sound) =>
        ({ signal: _, ...asked }) =>
          sound({ ...asked, signal: new AbortController().signal }),
    ),
  },
  {
    fault: 'a check that follows redirects',
    rule: 'it follows no redirect',
    run: check(
      (_, url, key) =>
        ({ text, signal }) =>
          post(url, key, text, { signal, redirect: 'follow' }),
    ),
  },
  {
    fault: 'a check that says nothing of quotas',
    rule: 'an error status is a CheckFailure with the reason of that status',
    run: check(
      (sound) => (asked) =>
        sound(asked).catch((error) => {
          throw new CheckFailure('managed.unavailable', error.message)
        }),
    ),
  },
  {
    fault: 'a check that quotes the text',
    rule: 'neither the text nor a secret comes back in a failure or a log line',
    run: check(
      (sound) => (asked) =>
        sound(asked).catch((error) => {
          throw new CheckFailure(error.reason, `${error.message}: ${asked.text}`)
        }),
    ),
  },
  {
    fault: 'a check that leaks its key',
    rule: 'neither the text nor a secret comes back in a failure or a log line',
    run: check(
      (sound, _, key) => (asked) =>
        sound(asked).catch((error) => {
          throw new CheckFailure(error.reason, error.message, { cause: new Error(`Bearer ${key}`) })
        }),
    ),
  },
  {
    fault: 'a check that judges the beginning alone',
    rule: 'the service gets the whole text',
    run: check((sound) => (asked) => sound({ ...asked, text: asked.text.slice(0, 1000) })),
  },
  {
    fault: 'a check whose answers change places',
    rule: 'verdicts of calls at once do not change places',
    run: check((sound) => async (asked) => {
      lastText = asked.text
      await Bun.sleep(5)
      return await sound({ ...asked, text: lastText })
    }),
  },
  {
    fault: 'a check that denies without a reason',
    rule: 'it says what the service says, in every phase',
    run: check((sound) => async (asked) => {
      const verdict = await sound(asked)
      return verdict.action === 'deny' ? ({ action: 'deny' } as typeof verdict) : verdict
    }),
  },
]

const authConfig = { account: 'ada', secret_ref: 'env/GATEWAY_MCP_SECRET_PLANTED' }

const mode = (change: (sound: McpGatewayAuthMode) => Partial<McpGatewayAuthMode>) => () =>
  testMcpAuthMode({
    plugin: spoilt(authPlugin, mcpAuthModes, (sound) => ({
      ...sound,
      ...change(sound as McpGatewayAuthMode),
    })),
    mode: 'sample_name',
    valid: [{ authConfig }],
    invalid: [{ authConfig, serverUrl: 'http://mcp.example.test/', field: 'server_url' }],
    sends: [
      {
        authConfig,
        env: { GATEWAY_MCP_SECRET_PLANTED: 'canary-4711' },
        headers: { authorization: `Basic ${btoa('ada:canary-4711')}`, 'x-account': 'ada' },
      },
    ],
  })

let kept: Readonly<Record<string, string>> | undefined
let hung = false
const read = () => process.env.GATEWAY_MCP_SECRET_PLANTED

export const plantedModes: readonly Planted[] = [
  {
    fault: 'a mode that keeps the secret',
    rule: 'the secret is read anew for each call',
    run: mode((sound) => ({
      async headers(server, signal) {
        kept ??= await sound.headers(server, signal)
        return kept
      },
    })),
  },
  {
    fault: 'a mode that shows the secret',
    rule: 'a secret that is missing or unfit is an internal_error that shows none',
    run: mode((sound) => ({
      headers: async (server, signal) => {
        try {
          return await sound.headers(server, signal)
        } catch (cause) {
          throw Object.assign(cause as Error, { message: `cannot send ${read()}` })
        }
      },
    })),
  },
  {
    fault: 'a mode that throws plain errors',
    rule: 'a secret that is missing or unfit is an internal_error that shows none',
    run: mode((sound) => ({
      headers: async (server, signal) => {
        if (read() === '') throw new Error('not set')
        return await sound.headers(server, signal)
      },
    })),
  },
  {
    fault: 'a mode with headers in capitals',
    rule: 'header names are in lower case, values can stand in a header',
    run: mode(() => ({ headers: () => ({ Authorization: `Basic ${btoa('ada:canary-4711')}` }) })),
  },
  {
    fault: 'a mode that takes any member',
    rule: 'its auth_config refuses unknown members',
    run: mode(() => ({
      configSchema: Type.Object({ account: Type.String(), secret_ref: Type.String() }),
    })),
  },
  {
    fault: 'a mode that sends secrets in the clear',
    rule: 'wrong declarations are refused, the field named',
    run: mode(() => ({ validate: () => [] })),
  },
  {
    fault: 'a mode that hangs',
    rule: 'it sends authorization, x-account',
    run: mode((sound) => ({
      headers(server, signal) {
        if (hung) return sound.headers(server, signal)
        hung = true
        return new Promise(() => {})
      },
    })),
  },
]

/** The templates themselves, which break no rule. */
export const soundGuards: readonly (() => void)[] = [
  pack({}),
  () => checkKit(checkPlugin),
  mode(() => ({})),
]
