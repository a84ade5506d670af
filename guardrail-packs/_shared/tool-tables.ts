import { wordSet } from './word-lists.ts'

/*
 * Names of tools of agents and MCP servers that run something. Names and keys are identity words
 * joined by `_`: `runInTerminal` is `run_in_terminal`.
 */

/** Tools that are a shell: unreadable commands are denied. */
export const shellTools = wordSet(`
  bash bash_code_execution bash_tool computer_run_command container_exec developer_shell exec
  exec_command execute_bash execute_command execute_shell execute_shell_command local_shell powershell
  pwsh run_bash run_command run_in_terminal run_shell run_shell_command run_terminal_cmd
  run_terminal_command send_to_terminal sh shell shell_command shell_exec ssh_execute start_process
  terminal unified_exec zsh
`)

/** Words of tools that type into a shell or a terminal. */
export const terminalWords = wordSet(`
  bash cmd command commands computer console iterm keys keystrokes powershell process pty pwsh repl sh shell
  shells ssh stdin terminal terminals tmux tty zsh
`)

/** Words of tools that type; into a terminal if an argument names one or the server is one. */
export const typingWords = wordSet('feed input interact send type write')
export const sessionKeys = wordSet(`
  pane_id pid process_id pty_id session_id shell_id terminal_id
`)
/** Words of tools that type into something else. */
export const otherInputs = wordSet('browser chat email element form mail message page sms')

/** Words of tools that run their input. */
export const runWords = wordSet(`
  call cli container devcontainer docker eval evaluate exec execute executes executor host invoke job
  kernel kubectl launch pod pods remote run runner sandbox schedule screen spawn start subprocess
  system vm winrm wsl
`)

/** Words of tools that take instructions in prose. */
export const proseWords = wordSet(`
  agent agents assistant chat llm model prompt search subagent task tasks workflow workflows
`)

/** First words of tools that only inspect their input, unless a word of `runs` follows. */
export const lookingWords = wordSet(`
  analyse analyze approve ask audit autocomplete check classify complete confirm describe document
  explain find format get grep lint list lookup parse preview read review search show suggest
  summarize test tokenize translate validate view
`)
/** Words that mean running, after any first word. */
export const runs = wordSet('eval exec execute invoke launch run spawn start')

/** Words of argument names with a command. */
export const commandWords = wordSet('cmd cmdline cmds command commandline commands')
/** Whole argument names with a command, of any tool. */
export const commandKeys = wordSet('argv chars input_text keystrokes one_liner stdin')
/** The same, of tools that run something. */
export const scriptKeys = wordSet('bash keys line lines script sh shell_script')
/** The same, of tools that type into a terminal. */
export const inputKeys = wordSet(`
  content data input inputs message payload raw string text value
`)
/** Names of a program; its arguments are in another argument. */
export const programKeys = wordSet('binary entrypoint exe executable file program')
export const argumentKeys = wordSet('args argv arguments params parameters')

/** Words of argument names with source code. */
export const codeWords = wordSet('cell cells code expression function script snippet source')
/** Words that make a name describe something about the source. */
export const aboutWords = wordSet(`
  count description directory dir file format id ids index language limit mode name number path status
  timeout title type uri url
`)

/** Words of tools and argument values that mean a language. */
export const languages: ReadonlyMap<string, string> = new Map(
  Object.entries({
    bash: 'sh',
    bun: 'javascript',
    cmd: 'sh',
    deno: 'javascript',
    function: 'javascript',
    ipykernel: 'python',
    ipython: 'python',
    javascript: 'javascript',
    js: 'javascript',
    jupyter: 'python',
    lua: 'lua',
    node: 'javascript',
    nodejs: 'javascript',
    notebook: 'python',
    perl: 'perl',
    php: 'php',
    powershell: 'powershell',
    ps1: 'powershell',
    pwsh: 'powershell',
    py: 'python',
    python: 'python',
    python3: 'python',
    r: 'r',
    rscript: 'r',
    ruby: 'ruby',
    sh: 'sh',
    shell: 'sh',
    ts: 'javascript',
    typescript: 'javascript',
    zsh: 'sh',
  }),
)
/** Words of tools that run source code in a web page. */
export const browserWords = wordSet('browser chrome devtools page playwright puppeteer selenium')
/** How a language's interpreter gets a program. */
export const interpreters: ReadonlyMap<string, readonly string[]> = new Map([
  ['javascript', ['node', '-e']],
  ['lua', ['lua', '-e']],
  ['perl', ['perl', '-e']],
  ['php', ['php', '-r']],
  ['powershell', ['pwsh', '-Command']],
  ['python', ['python3', '-c']],
  ['r', ['Rscript', '-e']],
  ['ruby', ['ruby', '-e']],
])
export const languageKeys = wordSet('interpreter kernel kernel_name lang language runtime shell')
/** Words of tools that take source code, in addition to those of a language. */
export const codeTools = wordSet('cell cells code interpreter kernel notebook repl sandbox script')

/** Arguments that wrap others. */
export const wrapperKeys = wordSet(`
  action actions args arguments body calls data input inputs invocations kwargs operation operations
  options params parameters payload request requests steps tool_calls tool_input tool_uses
`)
/** First words of tools that store source code without running it, except notebook editors. */
export const storingWords = wordSet(
  'add create insert post put register save store update upload write',
)
export const notebookWords = wordSet('cell cells jupyter notebook')
/** Arguments that describe the others: `{ module: 'shell', args: 'ls' }`. */
export const kindKeys = wordSet('executor module')

/** Members with the text, where text is expected: `{ text: 'ls' }`. */
export const textKeys = wordSet('cmd command content line source text value')

/** Programs whose arguments some tools take without the program's name. */
export const cliPrograms = wordSet('aws bq docker gcloud gh git gsutil kubectl')
