/** Whether a command line asks for help, behind whichever command. */
export function asksForHelp(args: readonly string[]): boolean {
  return args.some((word) => word === '--help' || word === '-h')
}
