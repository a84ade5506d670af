import type { PackRule } from 'model-gateway/guardrail'
import type { SqlHazard } from '../_shared/sql.ts'

const back = 'Take a backup and ask a person to run it.'
const bound = 'Add a WHERE that names the rows, and try it as a SELECT first.'
const inline = 'Pass the statement itself on the command line, so that it can be read.'

function rule(id: string, reasonCode: string, description: string, saferAction: string): PackRule {
  return { id, reasonCode, description, saferAction }
}

export const rules: readonly PackRule[] = [
  rule('drop', 'sql.drop', 'Drops a database object or an account.', back),
  rule('truncate', 'sql.truncate', 'Empties a table.', back),
  rule(
    'delete-all',
    'sql.delete_without_where',
    'Deletes rows without a WHERE that limits it.',
    bound,
  ),
  rule(
    'update-all',
    'sql.update_without_where',
    'Updates rows without a WHERE that limits it.',
    bound,
  ),
  rule('alter-drop', 'sql.alter_drop', 'Drops a column or partition of a table.', back),
  rule('merge-delete', 'sql.merge_delete', 'Deletes rows by MERGE.', bound),
  rule('purge', 'sql.purge', 'Purges logs or dropped objects for good.', back),
  rule(
    'program',
    'sql.copy_program',
    'Runs a program on the database server.',
    'Copy to standard output or from standard input.',
  ),
  rule(
    'client-shell',
    'sql.client_shell',
    'Runs a shell command from inside the database client.',
    'Run the shell command by itself.',
  ),
  rule(
    'script-input',
    'command.uninspectable',
    'Takes SQL from a file or from standard input, where it cannot be read.',
    inline,
  ),
  rule(
    'unreadable-sql',
    'command.uninspectable',
    'The SQL is only known when it runs, or cannot be read far enough to judge it.',
    inline,
  ),
  rule(
    'drop-tool',
    'sql.drop_tool',
    'Removes a database, an account or data by a tool made for it.',
    back,
  ),
]

export const ruleOfHazard: Readonly<Record<SqlHazard, string>> = {
  drop: 'drop',
  truncate: 'truncate',
  delete: 'delete-all',
  update: 'update-all',
  alter_drop: 'alter-drop',
  merge_delete: 'merge-delete',
  purge: 'purge',
  program: 'program',
  client_shell: 'client-shell',
  client_file: 'script-input',
  unreadable: 'unreadable-sql',
}
