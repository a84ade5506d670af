import type { PackRule } from 'model-gateway/guardrail'

const keepWork = 'Commit or stash the work first.'

/** The rules of the pack, in any order: the judge decides which is checked first. */
export const rules = [
  rule('reset-discard', 'discard_work', 'Resets the worktree and throws away changes.', keepWork),
  rule(
    'clean-force',
    'discard_work',
    'Deletes files that git does not track.',
    'Run git clean -n first and show the list.',
  ),
  rule('checkout-discard', 'discard_work', 'Overwrites changes in the worktree.', keepWork),
  rule('switch-discard', 'discard_work', 'Switches branches and throws away changes.', keepWork),
  rule(
    'restore-worktree',
    'discard_work',
    'Restores files and throws away their changes.',
    'Use git restore --staged to take back staging only, or stash first.',
  ),
  rule(
    'remove-force',
    'discard_work',
    'Deletes tracked files though their changes get lost.',
    'Use git rm without --force, or git rm --cached.',
  ),
  rule(
    'overwrite-file',
    'discard_work',
    'Writes the output over a file.',
    'Write to a file that ends in .patch or .diff.',
  ),
  rule('stash-drop', 'discard_work', 'Deletes stashed work.', 'Apply the stash to a branch first.'),
  rule(
    'worktree-remove-force',
    'discard_work',
    'Removes a worktree with its changes.',
    'Remove it without --force: git refuses when there are changes.',
  ),
  rule(
    'submodule-force',
    'discard_work',
    'Throws away changes in submodules.',
    'Update or deinit submodules without --force.',
  ),
  rule(
    'push-force',
    'rewrite_remote',
    'Overwrites history of the remote.',
    'Push without force, or --force-with-lease with --force-if-includes.',
  ),
  rule(
    'push-delete',
    'rewrite_remote',
    'Deletes branches or tags of the remote.',
    'Leave the branch, or ask its owner to delete it.',
  ),
  rule(
    'branch-force',
    'lose_commits',
    'Deletes, overwrites or moves a branch though commits get lost.',
    'Use git branch -d, which refuses when commits would be lost.',
  ),
  rule(
    'rewrite-history',
    'lose_commits',
    'Rewrites the history of the repository.',
    'Work on a fresh clone and keep the original.',
  ),
  rule(
    'reflog-expire',
    'lose_commits',
    'Deletes the record with which lost commits can be found.',
    'Leave the reflog to git.',
  ),
  rule(
    'prune-now',
    'lose_commits',
    'Deletes unreachable objects at once.',
    'Run git gc without --prune=now.',
  ),
  rule(
    'ref-delete',
    'lose_commits',
    'Deletes or moves a reference.',
    'Use git branch -d, or git merge.',
  ),
  rule(
    'config-execution',
    'config_execution',
    'Has git run a program that a setting of this one command names.',
    'Run the program itself, so that it can be seen.',
  ),
] as const satisfies readonly PackRule[]

function rule<Id extends string>(
  id: Id,
  reason: string,
  description: string,
  saferAction: string,
): PackRule & { readonly id: Id } {
  return { id, reasonCode: `git.${reason}`, description, saferAction }
}

export type RuleId = (typeof rules)[number]['id']

/** Program names for which text that does not parse is denied. */
export const executables: ReadonlySet<string> = new Set(['git', 'git-filter-repo'])
