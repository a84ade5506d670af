// What `npm start` and `npm test` do first, with Node alone: it brings Bun and the dependencies.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'

const BUN = '1.4.5'
// npm puts this folder first on the PATH of scripts.
const BIN = 'node_modules/.bin'
/** The lockfile that was installed from. */
const INSTALLED = 'node_modules/.set-up'

process.chdir(new URL('..', import.meta.url).pathname)
// `bun run start`: it is there, and whoever has it installs with it.
if (!process.env.npm_config_user_agent?.startsWith('bun/')) setUp()

function setUp() {
  if (run('bun', ['--version'])?.trim() !== BUN) bringBun()
  const lockfile = readFileSync('bun.lock', 'utf8')
  if (existsSync(INSTALLED) && readFileSync(INSTALLED, 'utf8') === lockfile) return
  console.log('set-up: installs what bun.lock lists (bun install --frozen-lockfile)')
  const { status, error } = spawnSync('bun', ['install', '--frozen-lockfile'], { stdio: 'inherit' })
  if (status !== 0) fail(`bun install ${error?.message ?? `ended with exit code ${status}`}`)
  writeFileSync(INSTALLED, lockfile)
}

function bringBun() {
  console.log(`set-up: brings Bun ${BUN}, which runs the gateway, from npm (npx bun@${BUN})`)
  const path = run('npx', ['--yes', `bun@${BUN}`, '--print', 'process.execPath'], 'inherit')?.trim()
  if (!path)
    fail(
      `npm has no Bun ${BUN} for this machine now; https://bun.com/docs/installation has other ways`,
    )
  mkdirSync(BIN, { recursive: true })
  rmSync(`${BIN}/bun`, { force: true })
  symlinkSync(path, `${BIN}/bun`)
}

/** What a program prints; undefined when it fails or is not there. */
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
