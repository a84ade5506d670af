/** Before every UUIDv7 of this millisecond and after all earlier ones. */
export function firstId(at: Date): string {
  const ms = Math.min(Math.max(at.getTime(), 0), 0xffff_ffff_ffff)
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}
