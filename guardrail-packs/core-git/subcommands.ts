import type { Stdin, Word } from '../_shared/command.ts'
import { type OptionTable, readOptions } from '../_shared/command-options.ts'
import { knownInput } from '../_shared/command-output.ts'
import { wordList } from '../_shared/word-lists.ts'
import type { RuleId } from './rules.ts'

/** A git subcommand with its arguments. */
export interface GitCall {
  readonly words: readonly Word[]
  /** Settings given with `-c`, by lower-case key. */
  readonly config: ReadonlyMap<string, string>
  /** More words follow that are unknown. */
  readonly openEnded: boolean
  readonly stdin: Stdin
}

type Judge = (call: GitCall) => RuleId | undefined

/** A subcommand that is denied with any of these options. */
function denies(rule: RuleId, table: OptionTable, ...options: readonly string[]): Judge {
  return ({ words }) => (readOptions(words, table).has(...options) ? rule : undefined)
}

const pushTable: OptionTable = {
  short: 'o',
  values: ['repo', 'push-option', 'receive-pack', 'exec'],
  flags:
    wordList(`all branches mirror delete tags porcelain dry-run force force-with-lease force-if-includes
    recurse-submodules thin no-thin set-upstream progress prune no-verify verify follow-tags signed atomic quiet verbose ipv4 ipv6`),
}

function push({ words }: GitCall): RuleId | undefined {
  const read = readOptions(words, pushTable)
  if (read.has('-f', '--force', '--mirror')) return 'push-force'
  if (read.has('--force-with-lease') && !read.has('--force-if-includes')) return 'push-force'
  if (read.has('-d', '--delete', '--prune')) return 'push-delete'
  for (const { text } of read.operands) {
    if (/^\+./.test(text)) return 'push-force'
    if (/^:./.test(text)) return 'push-delete'
  }
  return undefined
}

function clean({ words, config }: GitCall): RuleId | undefined {
  const read = readOptions(words, {
    short: 'e',
    values: ['exclude'],
    flags: ['force', 'dry-run', 'quiet', 'interactive'],
  })
  if (read.has('-n', '--dry-run')) return undefined
  const unforced = /^(false|no|off|0)$/i.test(config.get('clean.requireforce') ?? '')
  return read.has('-f', '--force') || read.dynamic || unforced ? 'clean-force' : undefined
}

function branch({ words }: GitCall): RuleId | undefined {
  const read = readOptions(words, {
    short: 'u',
    values: wordList('set-upstream-to contains no-contains merged no-merged sort points-at format'),
    flags:
      wordList(`delete force move copy list show-current edit-description unset-upstream all remotes track
      no-track create-reflog verbose quiet color no-color column no-column abbrev ignore-case`),
  })
  return read.has('-D', '-M', '-C', '-f', '--force') ? 'branch-force' : undefined
}

const checkoutTable: OptionTable = {
  short: 'bBU',
  values: wordList('orphan conflict pathspec-from-file unified inter-hunk-context'),
  flags:
    wordList(`force ours theirs merge detach track no-track guess no-guess patch quiet progress no-progress overlay
    no-overlay recurse-submodules no-recurse-submodules overwrite-ignore no-overwrite-ignore
    ignore-other-worktrees ignore-skip-worktree-bits pathspec-file-nul`),
}

const fileName =
  /\.(txt|mdx?|rst|adoc|json|ya?ml|toml|ini|cfg|conf|env|properties|plist|lock|xml|html?|s?css|less|[cm]?[jt]sx?|vue|svelte|astro|hbs|ejs|py|pyi|ipynb|rb|php|pl|lua|go|rs|zig|java|kts?|scala|dart|exs?|hs|cs|csproj|sln|fs|c|h|cc|cpp|hpp|m|mm|swift|pbxproj|sh|bash|zsh|ps1|bat|sql|prisma|csv|tsv|tf|tfvars|hcl|proto|graphql|gradle|log|png|jpe?g|gif|svg|webp|ico|pdf|bak)$/i

const plainNames =
  /^(README|LICENSE|CHANGELOG|(Make|Docker|Container|Gem|Rake|Proc|Jenkins|Vagrant|Pip|Brew|Pod|Fast|Caddy|Just)file)$/
/** No part of a reference's name begins with a dot. */
const dotName = /(?:^|\/)\.\w/

/** Checkout with paths discards changes; with only a branch, or a new one, it does not. */
function checkout({ words, openEnded }: GitCall): RuleId | undefined {
  const read = readOptions(submoduleModes(words), checkoutTable)
  if (read.has('-f', '--force', '--pathspec-from-file', '-p', '--patch')) return 'checkout-discard'
  if (read.has('-B')) return 'branch-force'
  // None of these can be combined with paths.
  if (read.has('-b', '--orphan', '-t', '--track', '-d', '--detach')) return undefined
  const { operands, dashesAfter } = read
  const paths = dashesAfter === undefined ? 0 : operands.length - dashesAfter
  if (paths > 0 || (dashesAfter !== undefined && openEnded)) return 'checkout-discard'
  if (operands.length > 1 && dashesAfter === undefined) return 'checkout-discard'
  const [only] = operands
  if (only === undefined || dashesAfter !== undefined) return undefined
  const pathMode = read.has(
    '--ours',
    '--theirs',
    '--overlay',
    '--no-overlay',
    '--ignore-skip-worktree-bits',
  )
  return pathMode || isPath(only.text) ? 'checkout-discard' : undefined
}

/** `--recurse-submodules on-demand`, a common spelling, though git requires `=`. */
function submoduleModes(words: readonly Word[]): readonly Word[] {
  return words.filter(
    (word, at) =>
      !(words[at - 1]?.text === '--recurse-submodules' && /^(checkout|on-demand)$/.test(word.text)),
  )
}

function isPath(text: string): boolean {
  return (
    plainNames.test(text) ||
    dotName.test(text) ||
    /^(\.{1,2}(\/|$)|\/|~\/|:[/(!^])|\/$|\*/.test(text) ||
    fileName.test(text)
  )
}

function restore({ words, openEnded }: GitCall): RuleId | undefined {
  const read = readOptions(words, {
    short: 'sU',
    values: wordList('source conflict pathspec-from-file unified inter-hunk-context'),
    flags:
      wordList(`staged worktree patch quiet progress no-progress ours theirs merge ignore-unmerged
      ignore-skip-worktree-bits recurse-submodules no-recurse-submodules overlay no-overlay pathspec-file-nul`),
  })
  if (
    read.operands.length === 0 &&
    !openEnded &&
    !read.has('--pathspec-from-file', '-p', '--patch')
  )
    return undefined
  const worktree = read.has('-W', '--worktree') || !read.has('-S', '--staged')
  return worktree ? 'restore-worktree' : undefined
}

/** Subcommands of subcommands, by name. */
function nested(judges: Readonly<Record<string, Judge>>, table: OptionTable = {}): Judge {
  return (call) => {
    const { operands, dashesAfter } = readOptions(call.words, { ...table, leading: true })
    const [name, ...words] = operands
    if (name === undefined || dashesAfter !== undefined || words[0]?.text === '--help')
      return undefined
    return judges[name.text.toLowerCase()]?.({ ...call, words })
  }
}

/**
 * Whether the input of `update-ref --stdin` deletes, or comes from a program that writes such
 * lines.
 */
function deletesRefs(stdin: Stdin): boolean {
  const text = stdin.kind === 'text' ? stdin.text : knownInput(stdin)
  if (text !== undefined)
    return /^[^\S\n]*(?:delete\s|update\s+(?:refs\/heads\/|HEAD\b))/m.test(text)
  return (
    stdin.kind === 'pipe' &&
    stdin.producers.some(({ words }) =>
      words.some((word) => /(?:^|[='"/])delete\s/.test(word.text)),
    )
  )
}

const forceTable: OptionTable = {
  flags: ['force', 'all', 'init', 'recursive', 'remote', 'checkout', 'merge', 'rebase', 'quiet'],
}

function unlessDry(rule: RuleId, ...alsoDry: readonly string[]): Judge {
  return ({ words }) =>
    readOptions(words, {}).has('-n', '--dry-run', '-h', ...alsoDry) ? undefined : rule
}

const switchTable: OptionTable = {
  short: 'cC',
  values: wordList('create force-create orphan conflict'),
  flags: wordList('force discard-changes detach guess no-guess merge track no-track quiet'),
}

function switchBranch({ words }: GitCall): RuleId | undefined {
  const read = readOptions(words, switchTable)
  if (read.has('-C', '--force-create')) return 'branch-force'
  return read.has('-f', '--force', '--discard-changes') ? 'switch-discard' : undefined
}

/** `git rm` refuses to lose changes, unless forced. */
function remove({ words }: GitCall): RuleId | undefined {
  const read = readOptions(words, { flags: wordList('force cached dry-run quiet ignore-unmatch') })
  if (read.has('--cached', '-n', '--dry-run')) return undefined
  const all = read.operands.some(({ text }) => /^(?:\.{1,2}\/?|\*|:\/\*?|\.\/\*)$/.test(text))
  if (read.has('-r') && (read.has('-f', '--force') || all)) return 'remove-force'
  return all && read.has('-f', '--force') ? 'remove-force' : undefined
}

/** A forced fetch into a local branch; `refs/remotes/` belongs to the remote. */
function fetch({ words }: GitCall): RuleId | undefined {
  const read = readOptions(words, {
    short: 'jo',
    values: wordList('depth deepen upload-pack refmap server-option shallow-since filter'),
    flags: wordList('force prune tags all'),
  })
  const forced = read.has('-f', '--force')
  const overwrites = read.operands.slice(1).some(({ text }) => {
    const [, plus, to] = /^(\+?)[^:]*:(.+)$/.exec(text) ?? []
    return to !== undefined && (forced || plus === '+') && !/^refs\/(?!heads\/|tags\/)/.test(to)
  })
  return overwrites ? 'branch-force' : undefined
}

/** Usual targets of output. */
const outputName =
  /(?:^\/dev\/(?:null|stdout)|^\/tmp\/.*|\.(?:patch|diff|txt|log|md|html|json|csv|out|mbox|tar|zip|t?gz|bz2|t?xz|zst|tbz2))$/i

function writesFile({ words }: GitCall): RuleId | undefined {
  const read = readOptions(words, { short: 'oSGLl', values: ['output', 'output-directory'] })
  const path = read.value('--output')
  return path !== undefined && !outputName.test(path.text) ? 'overwrite-file' : undefined
}

const expiryKeys = /^gc\.(?:.+\.)?(?:reflogexpire|reflogexpireunreachable|pruneexpire)$/

function isSoon(value: string): boolean {
  return /^(?:now|all|0|today|tomorrow)/i.test(value)
}

/** A folder that everyone can write to. */
export function isShared(path: string): boolean {
  return /^\/(?:tmp|var\/tmp|dev\/shm)\//.test(path)
}

/** Settings that lose commits, or run files of a world-writable folder. */
function config({ words }: GitCall): RuleId | undefined {
  const { operands } = readOptions(words, { short: 'ft', values: ['file', 'blob', 'type'] })
  const [key, value] = operands[0]?.text === 'set' ? operands.slice(1) : operands
  if (key === undefined || value === undefined) return undefined
  const name = key.text.toLowerCase()
  if (expiryKeys.test(name) && isSoon(value.text)) return 'prune-now'
  return isShared(value.text) && /^(?:core\.hookspath|init\.templatedir|include\.path)$/.test(name)
    ? 'config-execution'
    : undefined
}

function rewrites(): RuleId {
  return 'rewrite-history'
}

/** `update-ref refs/heads/main HEAD~3` moves a branch; other references are not branches. */
function isOwn([ref]: readonly Word[]): boolean {
  return /^(?:refs\/heads\/|HEAD$)/.test(ref?.text ?? '')
}

/** The judges of the subcommands that can lose data. */
export const subcommands: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  [
    'reset',
    denies(
      'reset-discard',
      {
        values: ['pathspec-from-file'],
        flags: wordList(
          'hard soft mixed merge keep quiet patch intent-to-add no-refresh refresh recurse-submodules',
        ),
      },
      '--hard',
      '--merge',
    ),
  ],
  ['clean', clean],
  ['push', push],
  ['branch', branch],
  ['checkout', checkout],
  ['switch', switchBranch],
  ['rm', remove],
  ['fetch', fetch],
  ['pull', fetch],
  ...['diff', 'log', 'show', 'whatchanged', 'diff-tree', 'format-patch', 'archive'].map(
    (name): [string, Judge] => [name, writesFile],
  ),
  ['config', config],
  ['annex', nested({ drop: denies('remove-force', forceTable, '--force') })],
  ['lfs', nested({ migrate: nested({ import: rewrites, export: rewrites }) })],
  ['fast-import', denies('branch-force', forceTable, '--force')],
  ['restore', restore],
  [
    'stash',
    nested(
      { drop: () => 'stash-drop', clear: () => 'stash-drop' },
      { short: 'm', values: ['message'] },
    ),
  ],
  [
    'worktree',
    nested({
      remove: denies('worktree-remove-force', forceTable, '-f', '--force'),
      add: denies('branch-force', { short: 'b' }, '-B'),
    }),
  ],
  [
    'submodule',
    nested({
      update: denies(
        'submodule-force',
        { ...forceTable, short: 'j', values: ['jobs', 'reference', 'depth', 'filter'] },
        '-f',
        '--force',
      ),
      deinit: denies('submodule-force', forceTable, '-f', '--force'),
    }),
  ],
  ['filter-branch', () => 'rewrite-history'],
  ['filter-repo', unlessDry('rewrite-history', '--analyze', '--version', '--help')],
  ['reflog', nested({ expire: unlessDry('reflog-expire'), delete: unlessDry('reflog-expire') })],
  [
    'gc',
    ({ words, config }) => {
      const read = readOptions(words, { flags: ['prune'] })
      const soon = read.value('--prune')?.text ?? config.get('gc.pruneexpire') ?? ''
      if ([...config].some(([key, value]) => expiryKeys.test(key) && isSoon(value)))
        return 'prune-now'
      return isSoon(soon) ? 'prune-now' : undefined
    },
  ],
  ['prune', unlessDry('prune-now')],
  [
    'update-ref',
    ({ words, stdin }) => {
      const read = readOptions(words, { short: 'm' })
      const deletes =
        read.has('-d') ||
        (read.has('--stdin')
          ? deletesRefs(stdin)
          : read.operands.length > 1 && isOwn(read.operands))
      return deletes ? 'ref-delete' : undefined
    },
  ],
  [
    'symbolic-ref',
    denies('ref-delete', { short: 'm', flags: ['delete', 'quiet', 'short'] }, '-d', '--delete'),
  ],
  [
    'read-tree',
    ({ words }) => {
      const read = readOptions(words, {})
      return read.has('--reset') && read.has('-u') ? 'reset-discard' : undefined
    },
  ],
  [
    'checkout-index',
    denies('checkout-discard', { flags: ['force', 'all', 'stdin'] }, '-f', '--force'),
  ],
])
