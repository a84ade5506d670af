import { wordSet } from './word-lists.ts'

/** Cmdlet aliases that matter to a pack, in lower case. */
export const aliases: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '%': 'foreach-object',
    ac: 'add-content',
    clc: 'clear-content',
    copy: 'copy-item',
    cp: 'copy-item',
    cpi: 'copy-item',
    curl: 'invoke-webrequest',
    del: 'remove-item',
    dir: 'get-childitem',
    erase: 'remove-item',
    foreach: 'foreach-object',
    gci: 'get-childitem',
    icm: 'invoke-command',
    iex: 'invoke-expression',
    irm: 'invoke-restmethod',
    iwr: 'invoke-webrequest',
    ls: 'get-childitem',
    mi: 'move-item',
    move: 'move-item',
    mv: 'move-item',
    rd: 'remove-item',
    ri: 'remove-item',
    rm: 'remove-item',
    rmdir: 'remove-item',
    saps: 'start-process',
    sc: 'set-content',
    start: 'start-process',
    tee: 'tee-object',
    wget: 'invoke-webrequest',
  }),
)

/** Cmdlets that write a file, with the parameters and positions of its name. */
export const writers: ReadonlyMap<string, { readonly at: number; readonly named: RegExp }> =
  new Map([
    ['set-content', { at: 0, named: /^-(?:literal)?path?$/i }],
    ['add-content', { at: 0, named: /^-(?:literal)?path?$/i }],
    ['out-file', { at: 0, named: /^-(?:filepath|literalpath|pspath)$/i }],
    ['tee-object', { at: 0, named: /^-(?:filepath|literalpath)$/i }],
    ['export-csv', { at: 0, named: /^-(?:literal)?path$/i }],
    ['copy-item', { at: 1, named: /^-dest\w*$/i }],
    ['move-item', { at: 1, named: /^-dest\w*$/i }],
    ['invoke-webrequest', { at: Number.POSITIVE_INFINITY, named: /^-outfile$/i }],
  ])

/** Their parameters without a value. */
export const switches = wordSet(`
  -append -confirm -force -nonewline -noclobber -passthru -recurse -usebasicparsing -whatif
`)

/** Words before a block or condition, whose content is read separately. */
export const keywords = wordSet(`
  begin catch class do else elseif end filter finally for function if in param process return
  switch throw trap try until while
`)
