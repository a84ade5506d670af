import {
  Activity,
  Bot,
  Boxes,
  Cable,
  ChartColumn,
  Coins,
  FlaskConical,
  Gauge,
  History,
  KeyRound,
  LayoutDashboard,
  type LucideIcon,
  Plug,
  Server,
  ShieldCheck,
  Terminal,
  Trophy,
  User,
  UsersRound,
  Wallet,
} from 'lucide-react'

/** A page in the sidebar and in the command palette. */
export interface Entry {
  readonly path: string
  readonly label: string
  readonly icon: LucideIcon
  /** Other search words for it. */
  readonly words?: string
  /** Whether only platform admins see it. */
  readonly admin: boolean
}

export interface Group {
  readonly label: string
  readonly entries: readonly Entry[]
}

const navigation: readonly Group[] = [
  {
    label: 'Observe',
    entries: [
      { path: '/', label: 'Overview', icon: LayoutDashboard, admin: true, words: 'home dashboard' },
      { path: '/requests', label: 'Requests', icon: Activity, admin: true, words: 'logs traffic' },
      { path: '/leaderboard', label: 'Leaderboard', icon: Trophy, admin: true, words: 'users' },
      {
        path: '/harness-usage',
        label: 'Harness usage',
        icon: Terminal,
        admin: true,
        words: 'coding agents',
      },
    ],
  },
  {
    label: 'Cost',
    entries: [
      { path: '/spend', label: 'Spend', icon: Coins, admin: true, words: 'cost focus pricing' },
      { path: '/budgets', label: 'Budgets', icon: Wallet, admin: true, words: 'limits alerts' },
    ],
  },
  {
    label: 'Governance',
    entries: [
      { path: '/mcp', label: 'MCP servers', icon: Plug, admin: true, words: 'tools discovery' },
      {
        path: '/guardrails',
        label: 'Guardrails',
        icon: ShieldCheck,
        admin: true,
        words: 'policies decisions explain',
      },
      { path: '/audit-log', label: 'Audit log', icon: History, admin: true, words: 'changes who' },
    ],
  },
  {
    label: 'Catalog',
    entries: [
      { path: '/models', label: 'Models', icon: Boxes, admin: true, words: 'routes prices' },
      { path: '/providers', label: 'Providers', icon: Server, admin: true, words: 'health' },
      {
        path: '/connect',
        label: 'Connect',
        icon: Cable,
        admin: false,
        words: 'start clients agents',
      },
      { path: '/playground', label: 'Playground', icon: FlaskConical, admin: false, words: 'try' },
    ],
  },
  {
    label: 'Identity',
    entries: [
      { path: '/identity/users', label: 'Users', icon: User, admin: true, words: 'people' },
      { path: '/identity/teams', label: 'Teams', icon: UsersRound, admin: true },
      { path: '/identity/service-accounts', label: 'Service accounts', icon: Bot, admin: true },
      {
        path: '/identity/api-keys',
        label: 'API keys',
        icon: KeyRound,
        admin: true,
        words: 'grants',
      },
    ],
  },
  {
    label: 'Me',
    entries: [
      { path: '/me/usage', label: 'My usage', icon: ChartColumn, admin: false },
      { path: '/me/budgets', label: 'My budgets', icon: Gauge, admin: false },
      { path: '/me/api-keys', label: 'My keys', icon: KeyRound, admin: false },
    ],
  },
]

/** The groups that a user sees: admins see all, other users only their own pages. */
export function visibleGroups(isAdmin: boolean): readonly Group[] {
  return navigation
    .map(({ label, entries }) => ({ label, entries: entries.filter((e) => isAdmin || !e.admin) }))
    .filter(({ entries }) => entries.length > 0)
}
