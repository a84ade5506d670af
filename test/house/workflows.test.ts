import { afterAll, beforeAll, expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'

const ROOT = resolve(import.meta.dir, '../..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const { scripts, version } = JSON.parse(read('package.json'))
const script = read('.ci/run')
const steps = (/^steps=\((.*)\)$/m.exec(script)?.[1] ?? '').split(' ')

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}
interface Job {
  readonly needs?: string | readonly string[]
  readonly strategy?: { readonly matrix: Readonly<Record<string, unknown>> }
  readonly steps: readonly Step[]
}
interface Workflow {
  readonly on: object
  readonly permissions: object
  readonly jobs: Readonly<Record<string, Job>>
}

const FOLDER = '.github/workflows'
const workflows = new Map(
  readdirSync(join(ROOT, FOLDER)).map((name) => [
    name,
    parse(read(`${FOLDER}/${name}`)) as Workflow,
  ]),
)
const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap((job) => job.steps)

/** Scripts of package.json and steps of .ci/run that a text calls and that do not exist. */
function missing(text: string): string[] {
  const ran = [...text.matchAll(/\b(?:npm|bun) run ([\w:-]+)/g)].map(([, name]) => name as string)
  const chosen = [...text.matchAll(/\.ci\/run ([\w: -]+)/g)].flatMap(([, names]) =>
    (names as string).trim().split(/ +/),
  )
  return [
    ...ran.filter((name) => !(name in scripts)),
    ...chosen.filter((name) => !steps.includes(name)),
  ]
}

test('.ci/run runs each of its steps, which are scripts of package.json', () => {
  const called = [...script.matchAll(/^(?:\w+=\w+ )?(?:step|tests) ([a-z:]+)/gm)].map(
    ([, name]) => name,
  )
  expect([...called].sort()).toEqual([...steps].sort())
  expect(steps.filter((name) => !(name in scripts))).toEqual([])
})

test('the matrix of ci.yml has the steps of .ci/run', () => {
  const job = workflows.get('ci.yml')?.jobs.check
  expect(job?.strategy?.matrix).toEqual({ step: steps })
  expect(job?.steps.map(({ run }) => run)).toContain('bash .ci/run "$STEP"')
})

test('workflows call scripts, steps, files and jobs that exist', () => {
  expect([...workflows.keys()].sort()).toEqual(['ci.yml', 'release.yml'])
  for (const workflow of workflows.values()) {
    expect(Object.keys(workflow)).toContain('permissions')
    expect(stepsOf(workflow).flatMap(({ run = '' }) => missing(run))).toEqual([])
    for (const { needs = [] } of Object.values(workflow.jobs)) {
      for (const name of [needs].flat()) expect(workflow.jobs).toHaveProperty(name)
    }
  }
  expect(missing('npm run set-up && npm run no-such; bash .ci/run lint nonsense')).toEqual([
    'no-such',
    'nonsense',
  ])
})

test('actions are pinned by a major version or a commit', () => {
  const uses = [...workflows.values()].flatMap((workflow) =>
    stepsOf(workflow).flatMap((step) => step.uses ?? []),
  )
  expect(uses.length).toBeGreaterThan(10)
  expect(uses.filter((name) => !/^[\w-]+\/[\w-]+@(?:v\d+|[0-9a-f]{40})$/.test(name))).toEqual([])
})

test('a release has an archive per platform, an image, checksums, an SBOM and attestations', () => {
  const release = workflows.get('release.yml') as Workflow
  const platforms = (name: string) => {
    const include = release.jobs[name]?.strategy?.matrix.include as { platform: string }[]
    return include.map(({ platform }) => platform)
  }
  expect(platforms('archive')).toEqual(['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'])
  expect(platforms('image')).toEqual(['linux/amd64', 'linux/arm64'])
  const all = stepsOf(release)
  const file = all.find(({ uses }) => uses?.startsWith('docker/build-push-action'))?.with?.file
  expect(existsSync(join(ROOT, `${file}`))).toBe(true)
  const text = all.map(({ uses = '', run = '' }) => uses + run).join('\n')
  for (const part of ['npm run build', 'sha256sum', 'npm run sbom', 'attest-build-provenance']) {
    expect(text).toContain(part)
  }
})

test('CHANGELOG.md has a section for the version of package.json, which a release publishes', () => {
  const notes = notesOf(version)
  expect(notes.length).toBeGreaterThan(500)
  expect(notes).not.toMatch(/^## /m)
})

/** The command of release.yml that reads the notes of a version. */
function notesOf(wanted: string): string {
  const runs = stepsOf(workflows.get('release.yml') as Workflow).map(({ run = '' }) => run)
  const program = /awk [^']*'([^']*)'/.exec(runs.find((run) => run.includes('awk')) ?? '')?.[1]
  const args = ['-v', `version=${wanted}`, program as string, join(ROOT, 'CHANGELOG.md')]
  return spawnSync('awk', args, { encoding: 'utf8' }).stdout
}

let home: string
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'gateway-ci-'))
  mkdirSync(join(home, '.ci'))
  cpSync(join(ROOT, '.ci/run'), join(home, '.ci/run'))
  const fake: Record<string, string> = {}
  for (const name of ['set-up', ...steps]) fake[name] = `echo ran ${name}`
  fake.test = "printf ' 3 pass\\n 0 fail\\n'"
  fake['test:release'] = "printf ' 2 pass\\n 1 fail\\n'; exit 1"
  writeFileSync(join(home, 'package.json'), JSON.stringify({ scripts: fake }))
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

function run(...args: string[]) {
  // The name of any program, so that nothing is installed.
  const env = { ...process.env, CHROMIUM: 'sh' }
  const { stdout, stderr, status } = spawnSync('bash', [join(home, '.ci/run'), ...args], {
    encoding: 'utf8',
    env,
  })
  return { ran: stdout.match(/^ran .*/gm), last: stdout.trim().split('\n').at(-1), stderr, status }
}

test('.ci/run runs the steps that it is given, and ends with their counts', () => {
  expect(run('lint', 'unused')).toMatchObject({
    ran: ['ran set-up', 'ran lint', 'ran unused'],
    last: '0 passed, 0 failed',
    status: 0,
  })
  expect(run('typecheck', 'test:release')).toMatchObject({
    last: '2 passed, 1 failed',
    status: 1,
  })
  const refused = run('lint', 'nonsense')
  expect(refused).toMatchObject({ ran: null, status: 2 })
  expect(refused.stderr).toContain('unknown step "nonsense"; the steps are: typecheck lint')
})
