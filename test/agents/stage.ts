/** A gateway before all clouds, and agents that work through it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type AdminClient, adminClient } from '../harness/admin.ts'
import { ended } from '../harness/ended.ts'
import {
  ada,
  adaKey,
  eventually,
  startTestGateway,
  type TestGateway,
  testKey,
} from '../harness/gateway.ts'
import { childrenOf } from '../harness/process-tree.ts'
import { type Clouds, startClouds } from '../harness/upstream-clouds.ts'
import { conclusion, FILES, readsFiles } from './model.ts'

/** After which an agent is ended. */
const MAX_SECONDS = 100

const bedrock = (upstream_model: string, api_style: string) => ({
  provider: 'cloud_b_ml',
  upstream_model,
  compatibility: { cloud_b_ml: { api_style } },
})
const compatible = (upstream_model: string, upstream_api: 'chat' | 'responses' = 'chat') => ({
  provider: 'generic_compat',
  upstream_model,
  compatibility: { generic_compat: { supports_stream_usage: true, upstream_api } },
})

/** One model over each kind of route. Agents tell by a model's name what it can do. */
const models = [
  { id: 'chat/claude-sonnet-4-6', routes: [compatible('gpt-5')] },
  { id: 'responses/claude-sonnet-4-6', routes: [compatible('gpt-5', 'responses')] },
  {
    id: 'gemini/claude-sonnet-4-6',
    routes: [{ provider: 'cloud_a_ml', upstream_model: 'google/gemini-3-pro' }],
  },
  {
    id: 'vertex/claude-sonnet-4-6',
    routes: [{ provider: 'cloud_a_ml', upstream_model: 'anthropic/claude-sonnet-4-6' }],
  },
  {
    id: 'converse/claude-sonnet-4-6',
    routes: [bedrock('us.anthropic.claude-sonnet-4-6', 'runtime_unified')],
  },
  {
    id: 'edge/claude-opus-4-8',
    routes: [bedrock('anthropic.claude-opus-4-8', 'edge_native_messages')],
  },
  { id: 'gpt-5', routes: [compatible('gpt-5')] },
]

const brokeKey = testKey('broke')
/** A user whose budget of the day is used up before the first call. */
const broke = {
  name: 'Broke',
  email: 'broke@example.com',
  budget: { cadence: 'daily', amount_usd: '0' },
  api_keys: [{ name: 'test', value: `literal.${brokeKey}`, all_models: true }],
}

/** What the tests look at of a row of the request log. */
export interface LogRow {
  readonly status_code: number
  readonly outcome: string
  readonly error_code: string | null
  readonly operation: string
  readonly agent_harness_key: string
  readonly user_agent: string | null
  readonly exposed_tool_count: number | null
  readonly invoked_tool_count: number | null
}

export interface AgentResult {
  readonly out: string
  readonly err: string
  readonly code: number
  readonly seconds: number
  /** What it prints when it has read both files. */
  readonly conclusion: string
}

export interface AgentRun {
  /** The folder with the agent's command. */
  readonly bin: string
  readonly commands: string
  readonly model: string
  /** Whose budget is used up. Default: nobody's. */
  readonly broke?: boolean
  /** Ends it as soon as this is in its output. Default: it ends by itself. */
  readonly until?: string
  readonly env?: Readonly<Record<string, string>>
  /** Files of its home, by their paths in it. */
  readonly home?: Readonly<Record<string, string>>
}

export interface Stage {
  readonly gateway: TestGateway
  readonly clouds: Clouds
  readonly admin: AdminClient
  /** Runs an agent to its end, in a folder with the two files and with a home of its own. */
  run(run: AgentRun): Promise<AgentResult>
  /** The rows of a model's calls with this status, oldest first, once there are `count` or more. */
  log(model: string, count: number, status?: number): Promise<LogRow[]>
  /** Calls that failed, but for those of the user without money. */
  failures(): Promise<LogRow[]>
  stop(): Promise<void>
}

export async function openStage(): Promise<Stage> {
  const clouds = await startClouds()
  clouds.says = readsFiles
  const gateway = await startTestGateway({
    users: [ada, broke],
    providers: clouds.providers,
    models,
  })
  const admin = await adminClient(gateway)
  const rows = async (query: string) => {
    const path = '/api/v1/admin/observability/request-logs'
    const { items } = await admin.get<{ items: LogRow[] }>(`${path}?page_size=200&${query}`)
    return items.toReversed()
  }
  return {
    gateway,
    clouds,
    admin,
    run: (run) => runAgent(gateway.url, run.broke === true ? brokeKey : adaKey, run),
    log: (model, count, status = 200) =>
      eventually(async () => {
        const found = await rows(`status_code=${status}&model_key=${encodeURIComponent(model)}`)
        return found.length >= count ? found : undefined
      }),
    async failures() {
      const all = await rows('')
      return all.filter(
        ({ outcome, error_code }) => outcome !== 'success' && error_code !== 'budget_exceeded',
      )
    },
    async stop() {
      await gateway.stop()
      await clouds.stop()
    },
  }
}

/** Agents that are ended by their shell alone leave children that hold on to its output. */
function endTree(pid: number): void {
  const children = childrenOf(pid)
  process.kill(pid, 'SIGKILL')
  for (const child of children) endTree(child)
}

/** Reads the output of a program until a text is in it, and ends the program. */
async function shown(child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>, text: string) {
  const err = new Response(child.stderr).text()
  let out = ''
  for await (const bytes of child.stdout) {
    out += new TextDecoder().decode(bytes)
    if (!out.includes(text)) continue
    endTree(child.pid)
    break
  }
  return { out, err: await err, code: await child.exited }
}

/** Runs an agent to its end at any gateway, with a key of it. */
export async function runAgent(url: string, key: string, run: AgentRun): Promise<AgentResult> {
  const root = mkdtempSync(join(tmpdir(), 'agent-'))
  const home = join(root, 'home')
  const work = join(root, 'work')
  const markers = FILES.map(() => `marker-${crypto.randomUUID().slice(0, 8)}`)
  for (const path of [home, work]) mkdirSync(path)
  for (const [i, file] of FILES.entries()) writeFileSync(join(work, file), `${markers[i]}\n`)
  for (const [path, text] of Object.entries(run.home ?? {})) {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), text)
  }
  const startedAt = performance.now()
  const child = Bun.spawn(['bash', '-euo', 'pipefail', '-c', run.commands], {
    cwd: work,
    env: {
      PATH: `${run.bin}:${process.env.PATH}`,
      HOME: home,
      LANG: 'C.UTF-8',
      TERM: 'dumb',
      // Whatever wants to leave the machine fails at once.
      HTTPS_PROXY: 'http://127.0.0.1:9',
      NO_PROXY: '127.0.0.1,localhost',
      GATEWAY_URL: url,
      GATEWAY_API_KEY: key,
      GATEWAY_MODEL: run.model,
      ...run.env,
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const timer = setTimeout(() => endTree(child.pid), MAX_SECONDS * 1000)
  try {
    const result = run.until === undefined ? await ended(child) : await shown(child, run.until)
    const seconds = (performance.now() - startedAt) / 1000
    return { ...result, seconds, conclusion: conclusion(markers) }
  } finally {
    clearTimeout(timer)
    rmSync(root, { recursive: true, force: true })
  }
}
