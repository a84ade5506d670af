import { useParams } from '@tanstack/react-router'

/** What stands behind the path of a page, in parts: `['SERVER', 'tools']` of `/mcp/SERVER/tools`. */
export function useSubPath(): readonly string[] {
  const { _splat = '' } = useParams({ strict: false }) as { readonly _splat?: string }
  return _splat.split('/').filter((part) => part !== '')
}
