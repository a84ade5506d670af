import { describe, expect, test } from 'bun:test'
import { commandTree } from './command-tree.ts'

type Piece = ReturnType<typeof commandTree>[number]

/** One line per part, indented by depth. */
function lines(command: string | readonly string[]): string[] {
  const told: string[] = []
  function tell({ kind, text, value, unknown, children = [] }: Piece, depth: number): void {
    const known = value === undefined ? '' : ` = ${value}`
    told.push(`${'  '.repeat(depth)}${kind} ${text}${known}${unknown === true ? ' ?' : ''}`)
    for (const child of children) tell(child, depth + 1)
  }
  for (const piece of commandTree(command)) tell(piece, 0)
  return told
}

function sizeOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { children = [] }) => sum + 1 + sizeOf(children), 0)
}

describe('the tree of a command', () => {
  test('lists, pipelines, words, redirects, substitutions, and values of variables', () => {
    expect(lines('D=/srv; cd $D && rm -rf "$D/$(date)" | tee log 2>&1')).toEqual([
      'command ',
      '  assignment D=/srv',
      'list &&',
      '  command cd $D',
      '    word cd',
      '    word $D = /srv',
      '  pipeline |',
      '    command rm -rf "$D/$(date)"',
      '      word rm',
      '      word -rf',
      '      word "$D/$(date)" = /srv/$(date) ?',
      '        substitution $(date)',
      '          command date',
      '            word date',
      '    command tee log',
      '      word tee',
      '      word log',
      '      redirect 2>&1',
    ])
  })

  test('a nested command is below the command that runs it', () => {
    expect(lines(`echo 'rm -rf /' | sudo bash`).slice(-5)).toEqual([
      '  command sudo bash',
      '    word sudo',
      '    word bash',
      '    runs sudo = bash',
      '      runs sudo › bash = rm -rf /',
    ])
    expect(lines(['sudo', 'rm', '/'])).toEqual([
      'command sudo rm /',
      '  word sudo',
      '  word rm',
      '  word /',
      '  runs sudo = rm /',
    ])
  })

  test('compound commands, heredocs and what does not parse', () => {
    expect(lines('if [[ -f x ]]; then rm x & fi')).toEqual([
      'if ',
      '  condition ',
      '    test command ',
      '      test unary -f',
      '        word x',
      '  body ',
      '    background &',
      '      command rm x',
      '        word rm',
      '        word x',
    ])
    expect(lines('cat <<E\nhi $HOME\nE')).toContain('  heredoc <<E = hi $HOME\n ?')
    expect(commandTree("rm 'a").at(-1)?.kind).toBe('error')
    expect(commandTree('ls\0')).toEqual([])
    expect(commandTree(['ls', '\0'])).toEqual([])
  })

  test.each([
    'rm a; '.repeat(5000),
    `${'echo $('.repeat(60)}ls${')'.repeat(60)}`,
    `A=${'x'.repeat(20_000)}; echo ${'$A '.repeat(100)}`,
    `sudo ${'sudo '.repeat(60)}ls`,
    `bash -c '${'rm y; '.repeat(2000)}'`,
    '(((((((((((((((',
  ])('is bounded, whatever is written (%#)', (command) => {
    const tree = commandTree(command)
    expect(sizeOf(tree)).toBeLessThanOrEqual(401)
    expect(JSON.stringify(tree).length).toBeLessThan(250_000)
  })

  test('shows that it was cut', () => {
    expect(commandTree('rm a; '.repeat(5000)).at(-1)).toEqual({
      kind: 'cut',
      text: 'more than 400 parts',
    })
  })
})
