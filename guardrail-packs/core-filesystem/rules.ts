import type { PackRule } from 'model-gateway/guardrail'
import { wordList, wordSet } from '../_shared/word-lists.ts'

/** The rules of the pack, in any order: the judge decides which is checked first. */
export const rules = [
  {
    id: 'rm-recursive',
    reasonCode: 'filesystem.recursive_delete',
    description: 'Deletes directories with all that is in them.',
    saferAction: 'Delete the files by name, or move the directory aside.',
  },
  {
    id: 'bulk-delete',
    reasonCode: 'filesystem.bulk_delete',
    description: 'Deletes files that a search or another command will name.',
    saferAction: 'Print the list first, then delete the files by name.',
  },
  {
    id: 'program-delete',
    reasonCode: 'filesystem.recursive_delete',
    description: 'Deletes directory trees from within a program on the command line.',
    saferAction: 'Delete the files by name, or move the directory aside.',
  },
  {
    id: 'destroy-content',
    reasonCode: 'filesystem.destroy_content',
    description: "Overwrites or empties a file's content for good.",
    saferAction: 'Copy the file aside first, or move it away.',
  },
  {
    id: 'write-device',
    reasonCode: 'filesystem.write_device',
    description: 'Writes to a device directly, which destroys what it holds.',
    saferAction: 'Write to a file, and let a person put it on the device.',
  },
  {
    id: 'destroy-volume',
    reasonCode: 'filesystem.destroy_volume',
    description: 'Erases or repartitions a device, volume or pool.',
    saferAction: 'List devices and volumes, and let a person change them.',
  },
  {
    id: 'mirror-delete',
    reasonCode: 'filesystem.mirror_delete',
    description: 'Deletes at the destination whatever the source does not have.',
    saferAction: 'Run it with --dry-run and show the list first.',
  },
  {
    id: 'overwrite-protected',
    reasonCode: 'filesystem.overwrite_protected',
    description: 'Overwrites system settings, keys or a start-up file of the shell.',
    saferAction: 'Write a copy elsewhere and compare it, or append with >>.',
  },
  {
    id: 'delete-tool',
    reasonCode: 'filesystem.delete_tool',
    description: 'Calls a tool that deletes a file or a directory.',
    saferAction: 'Move it aside, or ask a person to delete it.',
  },
] as const satisfies readonly PackRule[]

export type RuleId = (typeof rules)[number]['id']

/** Program names for which text that does not parse is denied. */
export const executables = wordSet(`
  rm find shred truncate dd wipefs mkswap fdisk sfdisk parted sgdisk lvremove vgremove pvremove
  zpool diskutil rsync rmtree rm_rf
`)

/** They overwrite their files, with any options. */
export const shredders: ReadonlySet<string> = new Set([
  'shred',
  'gshred',
  'srm',
  'nwipe',
  'scrub',
  'wipe',
  'sfill',
])

/** They remove a volume whenever they run. */
export const volumeRemovers: ReadonlySet<string> = new Set([
  'lvremove',
  'vgremove',
  'pvremove',
  'lvreduce',
  'vgreduce',
  'blkdiscard',
  'sg_format',
  'sg_sanitize',
  'sg_unmap',
  'clear-disk',
  'format-volume',
  'initialize-disk',
  'remove-partition',
  'remove-storagepool',
  'remove-virtualdisk',
])

/** Tools that change a device, with the options that only read. */
export const partitioners: ReadonlyMap<string, readonly string[]> = new Map([
  ['wipefs', ['-n', '--no-act', '-J', '--json', '-p', '--parsable']],
  ['mkswap', []],
  ['fdisk', ['-l', '--list', '-x', '--list-details', '-s', '--getsz']],
  [
    'sfdisk',
    [
      '-l',
      '--list',
      '-d',
      '--dump',
      '-J',
      '--json',
      '-F',
      '--list-free',
      '-V',
      '--verify',
      '-s',
      '--show-size',
      '-n',
      '--no-act',
    ],
  ],
  ['cfdisk', []],
  ['gdisk', ['-l']],
  ['cgdisk', []],
  [
    'sgdisk',
    [
      '-p',
      '--print',
      '-i',
      '--info',
      '-v',
      '--verify',
      '-P',
      '--pretend',
      '-b',
      '--backup',
      '-F',
      '-E',
      '-D',
      '-f',
    ],
  ],
  ['parted', ['-l', '--list']],
])

/** Destructive subcommands by tool: words that follow each other among the operands. */
export const destroyingSubcommands: ReadonlyMap<string, RegExp> = new Map([
  ['zpool', /^(destroy|labelclear|remove)\b/],
  ['zfs', /^(destroy|rollback)\b/],
  ['btrfs', /^(subvolume delete|device (delete|remove)|su(b\w*)? d\w*)\b/],
  ['lvm', /^(lvremove|vgremove|pvremove|lvreduce)\b/],
  ['cryptsetup', /^(luksformat|lukserase|erase|lukskillslot|reencrypt)\b/],
  ['nvme', /^(format|sanitize|delete-ns)\b/],
  ['dmsetup', /^(remove|remove_all|wipe_table)\b/],
  [
    'diskutil',
    /^((erase|partition|reformat|zero|random|secureerase)\w*|apfs (delete|erase)\w*|appleraid (delete|create)\w*|ar (delete|create)\w*|(corestorage|cs) (delete|create)\w*|deletevolume|mergepartitions|resizevolume|splitpartition)\b/,
  ],
  ['tmutil', /^(delete|deletelocalsnapshots|thinlocalsnapshots)\b/],
  ['vssadmin', /^delete\b/],
])

/** Tools that delete trees with their own syntax, by its words. */
export const deletingTools: ReadonlyMap<string, RegExp> = new Map([
  ['userdel', /(?:^|\s)(?:-[a-zA-Z]{0,10}r[a-zA-Z]{0,10}|--remove)(?:\s|$)/],
  ['deluser', /--remove-(?:home|all-files)/],
  ['cmake', /^-E (?:remove_directory|rm .*-\w*r|remove .*-\w*r)/],
  ['rclone', /(?:^|\s)(?:purge|delete|rmdirs)(?:\s|$)/],
  ['mc', /^(?:rb|rm .*--recursive)/],
  ['s3cmd', /^(?:rb|del .*(?:--recursive|-r)|rm .*(?:--recursive|-r))/],
  ['s5cmd', /^(?:rb|rm) .*\*/],
  ['gio', /^trash .*--empty/],
  ['hdfs', /^dfs .*-rm.* -r|^dfs .*-rmr/],
  ['hadoop', /^fs .*-rm.* -r|^fs .*-rmr/],
  ['7z', /^\w+ .*-sdel(?:\s|$)/],
  ['7za', /^\w+ .*-sdel(?:\s|$)/],
  ['rar', /^\w+ .*-d[fr](?:\s|$)/],
  ['tar', /(?:^|\s)--remove-files(?:\s|$)/],
  ['zip', /(?:^|\s)(?:--move|-[a-zA-Z]{0,10}m[a-zA-Z]{0,10})\s/],
  ['bleachbit', /(?:^|\s)(?:-c|--clean|-o|--overwrite|-w)(?:\s|$)/],
])

/** Destructive options by tool. */
export const destroyingOptions: ReadonlyMap<string, RegExp> = new Map([
  [
    'hdparm',
    /^(--security-erase(-enhanced)?|--trim-sector-ranges|--make-bad-sector|--write-sector)$/,
  ],
  ['badblocks', /^-[a-z]*w/],
  ['mdadm', /^(--zero-superblock|--stop|-S)$/],
  ['asr', /^--?erase$/],
])

/** Options of find whose next word is never an action. */
export const findValues = wordList(`
  amin anewer atime cmin cnewer context ctime fls fprint fprint0 fprintf fstype gid
  group ilname iname inum ipath iregex iwholename links lname maxdepth mindepth mmin mtime name newer newerXY path perm
  printf regex regextype samefile size type uid used user wholename xtype
`)

/** Calls that remove a tree, with any arguments. */
export const treeRemovers =
  /(^|[.:/])(rmtree|remove_tree|rm_rf!?|rm_r|rmtree!|remove_dir|remove_dir_all|removeall|del_dir_r|deletedir|deleterecursively|removedirectoryrecursive|removepathforcibly|delete-directory|delete-directory\/files|delete-directory-tree|delete-tree|delete-file-recursively|uiop:delete-directory-tree|remove_entry|remove_entry_secure|removesync|emptydir|emptydirsync|rimraf|rimrafsync|deletedirectory)$/i

/** Calls that remove a tree if recursive. */
export const recursiveRemovers =
  /(^|\.)(rm|rmsync|rmdir|rmdirsync|remove|removesync|unlink|rm_f|delete)$/i

/** Calls that list files of a tree: `.find` alone searches text or an element. */
export const treeWalkers =
  /(^|\.|::)(walk|rglob|glob|iglob|scandir|recursivedirectoryiterator|listdir|readdirsync|finddepth)$|^(find\.|file::find::)?find$/i
/**
 * Calls that remove the listed files; `.remove` and `.delete` of other objects remove list items.
 */
export const fileRemovers =
  /(^|\.|::)(unlink|unlinksync|rmdir|rmdirsync|removedirs)$|^remove$|^(os|fs|fsp|deno|file|dir|fileutils)(\.|::)(remove|delete)(sync)?$/i
