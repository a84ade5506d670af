import { expect, test } from 'bun:test'
import { spawnSync } from 'node:child_process'

/** The last commit before subjects had a form. */
const SINCE = 'd36a36d9'
const MAX_CHARS = 72

/** What is wrong with the subject of a commit, or `undefined`. */
function fault(subject: string): string | undefined {
  if (/^(?:Merge|Revert) /.test(subject)) return undefined
  const words = /^[a-z0-9][a-z0-9 ,/._-]*: (\S+)(?: |$)/.exec(subject)
  if (words === null) return 'must look like `area: imperative what`'
  if (subject.length > MAX_CHARS) return `has ${subject.length} characters, of at most ${MAX_CHARS}`
  const verb = words[1] as string
  if (!/^[a-z][a-z-]*$/.test(verb)) return `“${verb}” must be a verb in lower case`
  if (IS_NO_VERB.test(verb) && !VERBS.test(verb))
    return `“${verb}” must be an imperative, such as “add”`
  return undefined
}

const IS_NO_VERB = /(?:ed|ing|[^s]s)$|^(?:the|an?|this|that|no|it|new|more|all|some|fix(?:es)?:)$/
const VERBS = /^(?:bring|embed|feed|focus|need|process|seed|shed|speed|spring|string|bias|canvas)$/

test('a subject names an area and what to do, in 72 characters', () => {
  const good = [
    'storage: retry re-planned statements with their own parameters',
    'api-chat, api-messages: pass unknown members on',
    'ci: bring Chromium by apt-get',
  ]
  expect(good.map(fault)).toEqual([undefined, undefined, undefined])
  const bad = [
    'Fix things',
    'storage: Retry statements',
    'storage: retries statements',
    'storage: retried statements',
    'storage: the statements are retried',
    `storage: retry ${'x'.repeat(72)}`,
  ]
  expect(bad.map((subject) => typeof fault(subject))).toEqual(bad.map(() => 'string'))
})

test('the commits of this branch have such subjects', () => {
  // A shallow clone lacks the commit to begin with: then the newest one is looked at.
  const isThere = spawnSync('git', ['cat-file', '-e', `${SINCE}^{commit}`]).status === 0
  const range = isThere ? [`${SINCE}..HEAD`] : ['-1']
  const { stdout } = spawnSync('git', ['log', '--format=%h %s', ...range], { encoding: 'utf8' })
  const subjects = stdout.split('\n').filter((line) => line !== '')
  const faults = subjects.flatMap((line) => {
    const why = fault(line.slice(line.indexOf(' ') + 1))
    return why === undefined ? [] : [`${line}: ${why}`]
  })
  expect(faults).toEqual([])
})
