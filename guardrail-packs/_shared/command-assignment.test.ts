import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

/** Each command in the packs' cases. */
function collected(): readonly string[] {
  const packs = join(import.meta.dir, '..')
  return readdirSync(packs)
    .filter((folder) => !/^_|\.md$/.test(folder))
    .flatMap((folder) => parse(readFileSync(join(packs, folder, 'cases.yaml'), 'utf8')))
    .map((each: { readonly input: unknown }) => each.input)
    .filter((input) => typeof input === 'string')
}

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: they are the shell's
const assignments = [
  ...[
    'x=',
    'x+=a',
    'x==b',
    'x=a=b',
    'x=1;y=$x',
    'x=-n',
    'x=a&b',
    'x=a#b',
    'x=#a',
    'x=1>f',
    'x=2<f',
  ],
  ...[
    'x=if',
    'x=!',
    'x=[[',
    'x=}',
    'x={ y=}; z',
    'x=time y=2 z',
    'x=*.txt',
    'x=@(a|b)',
    'x=a@(b|c)',
  ],
  ...[
    'a[1]=b',
    'a[b=1]+=c',
    'a["x=]y"]=z',
    'a[$(reboot)]=1',
    'x=(a b)',
    'x=(a\n #c\n b)',
    'x=\\\n(a b)',
  ],
  ...[
    'x=([a]=b ["c d"]=$(e))',
    'x=(\nq\ny="$(reboot)" z\nexport w=1\n)',
    'x=([a b]=$(c))',
    'x=(a > b; c & d)',
    'x=(if a)',
    'x=(a\nif b\n)',
    'x=()',
    'x=#"$(a)"',
    'x=(#a\nb)',
  ],
  ...[
    "x='a b'",
    'x="a $(rm -rf /) b"c',
    "x=$'a\\n'",
    'x=$"a"',
    'x=a\\ b',
    'x=a\\\nb',
    'x+\\\n=c',
    'x\\\ny=c',
  ],
  ...[
    'x=`ls`',
    'x=$((1+2))',
    'x=$[1+2]',
    'x=${y:-$(z)}',
    'x=~/a:~/b',
    'x={a,b}',
    'x=<(ls)',
    'x=$(y=$(z=`a`))',
  ],
  ...[
    'export x="#y" z={a,b}',
    'declare -a a=(x y)',
    'let x=(1)',
    'eval x=(a b)',
    'env x="$(a)" b',
    'a=$(b)(c)',
  ],
  ...['x="', "x='abc", 'x=$(', 'x=`', 'x=${', 'x=(', 'x=(a', 'x=a\\', 'echo "`x=\\"a b\\" c`"'],
  ...['x=$(cat <<E\nhi $y\nE\n)', 'x=`cat <<E\nhi\nE\n`', 'x="$(cat <<E\nhi\nE\n)" y=$(z)'],
]
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: they were the shell's

test('values equal the parser’s, and keep the parser fast', async () => {
  const program = Bun.spawn(['bun', join(import.meta.dir, '__fixtures__/assignments.ts')], {
    stdin: new Blob([JSON.stringify([...assignments, ...collected()])]),
    stdout: 'pipe',
  })
  const { places, differences, compared } = JSON.parse(await new Response(program.stdout).text())
  expect(places).toEqual([])
  expect(differences).toEqual([])
  expect(compared).toBeGreaterThan(100)
}, 60_000)
