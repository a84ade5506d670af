import { afterAll, beforeAll, expect } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import postgres, { type Sql } from 'postgres'
import { type AdminClient, adminClient, adminPassword } from '../harness/admin.ts'
import { ended } from '../harness/ended.ts'
import { ada, adaKey, eventually } from '../harness/gateway.ts'
import { type GatewayProcess, spawnGateway } from '../harness/process.ts'
import { browserConfig } from './config.ts'

export const root = resolve(import.meta.dir, '../..')
const MAIN = join(root, 'plugins/standard/main.ts')
/** The headless shell needs a third of the CPU. */
const CHROMIUM =
  process.env.CHROMIUM ?? Bun.which('chromium-headless-shell') ?? Bun.which('chromium')

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** The time limit of start-up without the demo data, which adds a millisecond per request. */
const START_MS = 180_000

const sizes = {
  laptop: { width: 1440, height: 900 },
  tablet: { width: 820, height: 1180 },
  phone: { width: 390, height: 844 },
} as const

export interface ConsoleOptions {
  /** The number of demo requests over the last 31 days. Default 3000; 0 for an empty gateway. */
  readonly requests?: number
  /**
   * Whether to make live calls through the simulator before the first test. Default true unless
   * empty.
   */
  readonly traffic?: boolean
  /** The URL of a database that already has data. */
  readonly databaseUrl?: string | undefined
  /** Config sections in addition to those in `config.ts`. */
  readonly config?: Record<string, unknown>
  /** Environment variables of the gateway. */
  readonly env?: Readonly<Record<string, string>>
}

export interface OpenOptions {
  /** Default: a platform admin; `user`: Ada, who is not an admin; `nobody`: not signed in. */
  readonly as?: 'admin' | 'user' | 'nobody'
  readonly size?: keyof typeof sizes
  readonly theme?: 'light' | 'dark'
}

export interface ConsoleUnderTest {
  readonly gateway: GatewayProcess
  readonly sql: Sql
  /** A client of the admin API for the admin who signs in. */
  readonly admin: AdminClient
  /** Opens a page of the console, such as `/requests`, in a new window, after signing in. */
  open(path: string, options?: OpenOptions): Promise<Page>
}

export const people = {
  admin: { email: 'root@example.com', password: adminPassword },
  user: { email: ada.email, password: adminPassword },
} as const

/**
 * A gateway with data and a browser for the tests of a file; call it at the top of the file. After
 * the last test it checks that no page sent a request to another origin or logged an error.
 */
export function testDesk(options: ConsoleOptions = {}): ConsoleUnderTest {
  const { requests = 3000, traffic = requests > 0, databaseUrl, env = {} } = options
  let gateway: GatewayProcess
  let sql: Sql
  let admin: AdminClient
  let browser: Browser
  const foreign: string[] = []
  const complaints: string[] = []

  beforeAll(async () => {
    if (CHROMIUM === null)
      throw new Error(
        'Chromium was not found: install chromium-headless-shell, or set CHROMIUM to its path',
      )
    await buildConsole()
    const config = { ...browserConfig, ...options.config }
    gateway = await spawnGateway(config, { env, ...(databaseUrl !== undefined && { databaseUrl }) })
    sql = postgres(gateway.databaseUrl, { max: 2, onnotice: () => {} })
    if (requests > 0 && databaseUrl === undefined) {
      await seedDemo(gateway.databaseUrl, requests)
      // As autovacuum does within minutes.
      await sql`vacuum analyze`
    }
    if (traffic) await sendTraffic(gateway.url, sql)
    await adminClient(gateway, { email: people.user.email, role: 'user' })
    admin = await adminClient(gateway)
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: FLAGS,
      chromiumSandbox: false,
    })
  }, START_MS + requests)

  afterAll(async () => {
    await browser?.close()
    await sql?.end({ timeout: 5 })
    await gateway?.remove()
    expect(foreign).toEqual([])
    expect(complaints).toEqual([])
  }, 30_000)

  async function open(path: string, { as = 'admin', size = 'laptop', theme }: OpenOptions = {}) {
    const context = await browser.newContext({
      viewport: sizes[size],
      timezoneId: 'UTC',
      reducedMotion: 'reduce',
      ...(theme && { colorScheme: theme }),
    })
    context.setDefaultTimeout(15_000)
    context.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(`${gateway.url}/`) && !/^(data|blob):/.test(url)) foreign.push(url)
    })
    context.on('console', (message) => {
      const text = message.text()
      if (message.type() === 'error' && !text.startsWith('Failed to load resource')) {
        complaints.push(text)
      }
    })
    const page = await context.newPage()
    page.on('pageerror', (error) => complaints.push(String(error)))
    await page.goto(`${gateway.url}/console${path === '/' ? '' : path}`)
    if (as !== 'nobody') {
      await signIn(page, people[as].email, people[as].password)
      await page.locator('#main').waitFor()
    }
    return page
  }

  return {
    get gateway() {
      return gateway
    },
    get sql() {
      return sql
    },
    get admin() {
      return admin
    },
    open,
  }
}

/** Signs in at the sign-in page. */
export async function signIn(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

let built: Promise<void> | undefined

/**
 * Builds once per process, so that the tests use the current sources; skipped if the run's script
 * has built already.
 */
function buildConsole(): Promise<void> | undefined {
  if (process.env.CONSOLE_IS_BUILT !== undefined) return undefined
  built ??= run([process.execPath, join(root, 'plugins/console/build.ts')], {
    NODE_ENV: 'production',
  })
  return built
}

async function seedDemo(databaseUrl: string, requests: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-seed-'))
  try {
    const command = [process.execPath, MAIN, 'seed-demo', '--requests', String(requests)]
    await run(command, { DATABASE_URL: databaseUrl, GATEWAY_DATA_DIR: folder }, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function run(command: string[], env: Record<string, string>, cwd = root): Promise<void> {
  const child = Bun.spawn(command, {
    cwd,
    env: { ...process.env, ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const { out, err, code } = await ended(child)
  if (code !== 0) throw new Error(`${command.join(' ')}: ${out}${err}`)
}

/** Makes calls of each kind, and waits until the request log has them all. */
async function sendTraffic(url: string, sql: Sql): Promise<void> {
  const calls = [
    ...Array.from({ length: 12 }, (_, n) => ({ model: 'demo', text: `hello ${n}` })),
    { model: 'demo', text: 'please fail' },
    { model: 'no-price', text: 'what does this cost?' },
  ]
  const before = await countOfRequests(sql)
  await Promise.all(
    calls.map(async ({ model, text }, n) => {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${adaKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model,
          stream: n % 3 === 0,
          messages: [{ role: 'user', content: text }],
        }),
      })
      await response.text()
    }),
  )
  await eventually(async () => (await countOfRequests(sql)) >= before + calls.length || undefined)
}

async function countOfRequests(sql: Sql): Promise<number> {
  const [row] = await sql`select count(*)::int as n from request_log.request_logs`
  return (row as { n: number }).n
}
