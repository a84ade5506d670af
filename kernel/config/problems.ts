import { formatPath, type Problem } from '../plugin/index.ts'

/** A problem with its place in the file; line and column start at 1 and are absent if unknown. */
export interface LocatedProblem extends Problem {
  readonly line?: number
  readonly column?: number
}

const isError = (problem: Problem) => problem.severity !== 'warning'

export function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some(isError)
}

/** In file order; problems without a place come first. */
export function sortProblems(problems: readonly LocatedProblem[]): readonly LocatedProblem[] {
  return problems.toSorted(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  )
}

/** Formats problems for people, one per line: `path (file:line:col): message — hint`. */
export function formatProblems(problems: readonly LocatedProblem[], file: string): string {
  return problems
    .map((problem) => {
      const path = formatPath(problem.path)
      const place = problem.line === undefined ? file : `${file}:${problem.line}:${problem.column}`
      const where = path === '' ? place : `${path} (${place})`
      const hint = problem.hint === undefined ? '' : ` — ${problem.hint}`
      return `${isError(problem) ? '' : 'warning: '}${where}: ${problem.message}${hint}`
    })
    .join('\n')
}
