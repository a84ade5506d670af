import type { SimpleCommand, Word } from './command.ts'
import { readOptions } from './command-options.ts'

/** A setting that a git command gets or writes. */
export interface GitSetting {
  /** Lower case, where git ignores case. */
  readonly key: string
  readonly value: Word
  /** `config` writes it to a file; others apply to one command. */
  readonly by: '-c' | '--config-env' | 'environment' | 'config' | 'clone'
}

/** Keys whose value git runs with a shell. */
const shellKeys =
  /^(?:core\.(?:pager|editor|sshcommand|fsmonitor|askpass|gitproxy|alternaterefscommand)|pager\..+|sequence\.editor|diff\.external|diff\..+\.(?:command|textconv)|filter\..+\.(?:clean|smudge|process)|merge\..+\.driver|(?:diff|merge|gui)tool\..+\.(?:cmd|path)|(?:browser|man)\..+\.(?:cmd|path)|gpg\.(?:.+\.)?program|gpg\.ssh\.defaultkeycommand|interactive\.difffilter|uploadpack\.packobjectshook|remote\..+\.(?:uploadpack|receivepack)|trailer\..+\.(?:command|cmd)|sendemail\.(?:.+\.)?(?:tocmd|cccmd|headercmd|sendmailcmd|smtpserver)|imap\.tunnel|tar\..+\.command|instaweb\.httpd|hook\..+\.command|web\.browser)$/
/** Keys whose value is a shell command after `!`. */
const bangKeys = /^(?:alias\..+|credential\.(?:.+\.)?helper|submodule\..+\.update)$/

export function isAlias(key: string): boolean {
  return key.startsWith('alias.')
}

/** The command in a setting's value, when git runs it. */
export function runByGit({ key, value }: Pick<GitSetting, 'key' | 'value'>): Word | undefined {
  if (shellKeys.test(key)) return value
  if (!bangKeys.test(key)) return undefined
  const text = value.text.trimStart()
  return text.startsWith('!') ? { ...value, text: text.slice(1) } : undefined
}

export const globalTable = {
  short: 'cC',
  values: [
    'git-dir',
    'work-tree',
    'namespace',
    'super-prefix',
    'config-env',
    'attr-source',
    'list-cmds',
  ],
  leading: true,
} as const

const configTable = { short: 'ft', values: ['file', 'blob', 'type', 'default', 'comment', 'value'] }

/** The settings of a git command, in order of precedence. */
export function gitSettings({ words, assignments }: SimpleCommand): readonly GitSetting[] {
  const settings: GitSetting[] = []
  const add = (setting: Word, by: GitSetting['by']) => {
    const equals = setting.text.indexOf('=')
    const key = setting.text.slice(0, equals === -1 ? undefined : equals).toLowerCase()
    const text = equals === -1 ? 'true' : setting.text.slice(equals + 1)
    settings.push({ key, value: { ...setting, text }, by })
  }
  for (const [name, value] of assignments) {
    const number = /^GIT_CONFIG_KEY_(\d+)$/.exec(name)?.[1]
    const given = assignments.get(`GIT_CONFIG_VALUE_${number}`)
    if (number !== undefined && given !== undefined)
      settings.push({ key: value.text.toLowerCase(), value: given, by: 'environment' })
    if (name === 'GIT_CONFIG_PARAMETERS')
      for (const [, key = '', text = ''] of value.text.matchAll(
        /'([^'=]+)'?='?((?:[^']|'\\'')*)'/g,
      ))
        settings.push({ key: key.toLowerCase(), value: { ...value, text }, by: 'environment' })
  }
  const read = readOptions(words, globalTable)
  for (const { name, value } of read.options)
    if (value !== undefined && (name === '-c' || name === '--config-env')) add(value, name)
  const [subcommand, ...rest] = read.operands
  if (subcommand?.text === 'config') {
    const { operands } = readOptions(rest, configTable)
    const [key, value] = operands[0]?.text === 'set' ? operands.slice(1) : operands
    if (key !== undefined && value !== undefined)
      settings.push({ key: key.text.toLowerCase(), value, by: 'config' })
  }
  if (subcommand?.text === 'clone' || subcommand?.text === 'init')
    for (const { name, value } of readOptions(rest, { short: 'cbou', values: ['config'] }).options)
      if (value !== undefined && /^(?:-c|--config)$/.test(name)) add(value, 'clone')
  return settings
}
