import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { queryClient } from '@/api/query.ts'
import { answers, lost, whenUp } from '@/lib/connection.ts'
import { sessionQuery } from '@/lib/session.ts'
import { Layout } from '@/shell/layout.tsx'
import { PageError, PagePending } from '@/shell/page-states.tsx'

const root = createRootRoute({
  component: Outlet,
  notFoundComponent: lazyRouteComponent(() => import('@/pages/not-found/page.tsx')),
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: lazyRouteComponent(patient(() => import('@/pages/sign-in/page.tsx'))),
})

const signedInOnly = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  component: Layout,
  errorComponent: PageError,
  async beforeLoad({ location }) {
    const user = await queryClient.ensureQueryData(sessionQuery)
    const next = location.href === '/' ? undefined : location.href
    if (user === null)
      throw redirect({ to: '/sign-in', search: next === undefined ? {} : { next } })
    return { user }
  },
})

const adminsOnly = createRoute({
  getParentRoute: () => signedInOnly,
  id: 'admins',
  beforeLoad({ context: { user } }) {
    if (user.role !== 'platform_admin') throw redirect({ to: '/me/usage' })
  },
})

type Load = Parameters<typeof lazyRouteComponent>[0]

/**
 * Loads the code of a page, and waits while the gateway is down. Without it the router would reload
 * the whole console, which would then show the browser's error page.
 */
function patient(load: Load): Load {
  return async () => {
    for (;;) {
      try {
        return await load()
      } catch (error) {
        if (await answers()) throw error
        lost()
        await whenUp()
      }
    }
  }
}

/** Routes for a page and all paths below it, which the page reads with `useSubPath`. */
function pages(parent: typeof adminsOnly | typeof signedInOnly, path: string, load: Load) {
  const component = lazyRouteComponent(patient(load))
  const getParentRoute = () => parent
  return [
    createRoute({ getParentRoute, path, component }),
    createRoute({ getParentRoute, path: `${path}/$`, component }),
  ]
}

const routeTree = root.addChildren([
  signIn,
  signedInOnly.addChildren([
    adminsOnly.addChildren([
      createRoute({
        getParentRoute: () => adminsOnly,
        path: '/',
        component: lazyRouteComponent(patient(() => import('@/pages/overview/page.tsx'))),
      }),
      ...pages(adminsOnly, '/requests', () => import('@/pages/requests/page.tsx')),
      ...pages(adminsOnly, '/leaderboard', () => import('@/pages/leaderboard/page.tsx')),
      ...pages(adminsOnly, '/harness-usage', () => import('@/pages/harness-usage/page.tsx')),
      ...pages(adminsOnly, '/spend', () => import('@/pages/spend/page.tsx')),
      ...pages(adminsOnly, '/budgets', () => import('@/pages/budgets/page.tsx')),
      ...pages(adminsOnly, '/mcp', () => import('@/pages/mcp/page.tsx')),
      ...pages(adminsOnly, '/guardrails', () => import('@/pages/guardrails/page.tsx')),
      ...pages(adminsOnly, '/audit-log', () => import('@/pages/audit-log/page.tsx')),
      ...pages(adminsOnly, '/models', () => import('@/pages/models/page.tsx')),
      ...pages(adminsOnly, '/providers', () => import('@/pages/providers/page.tsx')),
      ...pages(adminsOnly, '/identity/users', () => import('@/pages/identity/users.tsx')),
      ...pages(adminsOnly, '/identity/teams', () => import('@/pages/identity/teams.tsx')),
      ...pages(
        adminsOnly,
        '/identity/service-accounts',
        () => import('@/pages/identity/service-accounts.tsx'),
      ),
      ...pages(adminsOnly, '/identity/api-keys', () => import('@/pages/identity/api-keys.tsx')),
    ]),
    ...pages(signedInOnly, '/connect', () => import('@/pages/connect/page.tsx')),
    ...pages(signedInOnly, '/playground', () => import('@/pages/playground/page.tsx')),
    ...pages(signedInOnly, '/me/usage', () => import('@/pages/me/usage.tsx')),
    ...pages(signedInOnly, '/me/budgets', () => import('@/pages/me/budgets.tsx')),
    ...pages(signedInOnly, '/me/api-keys', () => import('@/pages/me/api-keys.tsx')),
    createRoute({
      getParentRoute: () => signedInOnly,
      path: '/account',
      component: lazyRouteComponent(patient(() => import('@/pages/account/page.tsx'))),
    }),
  ]),
])

export const router = createRouter({
  routeTree,
  basepath: '/console',
  defaultPreload: 'intent',
  defaultPendingComponent: PagePending,
  defaultErrorComponent: PageError,
  // Plain query parameters instead of the router's JSON.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const text = new URLSearchParams(search as Record<string, string>).toString()
    return text === '' ? '' : `?${text}`
  },
})
