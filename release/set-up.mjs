// `npm start` and `npm test` run this first. It needs only Node, and installs Bun and the dependencies.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'

const BUN = '1.4.5'
// npm puts this folder first on the `PATH` of scripts.
const BIN = 'node_modules/.bin'
/** A copy of the lockfile of the last installation. */
const INSTALLED = 'node_modules/.set-up'

process.chdir(new URL('..', import.meta.url).pathname)
// Under `bun run start` Bun is installed, and its users run `bun install` themselves.
if (!process.env.npm_config_user_agent?.startsWith('bun/')) setUp()

function setUp() {
  if (run('bun', ['--version'])?.trim() !== BUN) bringBun()
  const lockfile = readFileSync('bun.lock', 'utf8')
  if (existsSync(INSTALLED) && readFileSync(INSTALLED, 'utf8') === lockfile) return
  console.log('set-up: installing the packages of bun.lock (bun install --frozen-lockfile)')
  const { status, error } = spawnSync('bun', ['install', '--frozen-lockfile'], { stdio: 'inherit' })
  if (status !== 0) fail(`bun install ${error?.message ?? `ended with exit code ${status}`}`)
  writeFileSync(INSTALLED, lockfile)
}

function bringBun() {
  console.log(`set-up: installing Bun ${BUN}, which runs the gateway, from npm (npx bun@${BUN})`)
  const path = run('npx', ['--yes', `bun@${BUN}`, '--print', 'process.execPath'], 'inherit')?.trim()
  if (!path)
    fail(
      `npm could not install Bun ${BUN}; install it as https://bun.com/docs/installation describes`,
    )
  mkdirSync(BIN, { recursive: true })
  rmSync(`${BIN}/bun`, { force: true })
  symlinkSync(path, `${BIN}/bun`)
}

/** The output of a program, or undefined when it fails or is not installed. */
function run(program, args, stderr = 'ignore') {
  const { status, stdout } = spawnSync(program, args, {
    stdio: ['ignore', 'pipe', stderr],
    encoding: 'utf8',
  })
  return status === 0 ? stdout : undefined
}

function fail(message) {
  console.error(`set-up: ${message}`)
  process.exit(1)
}
