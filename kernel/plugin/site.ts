/** One file of a site, as it goes out. */
export interface SiteFile {
  /** Its content type, with the charset where that matters. */
  readonly type: string
  readonly body: Uint8Array<ArrayBuffer>
  /** The same, compressed ahead of time. */
  readonly gzip?: Uint8Array<ArrayBuffer>
  readonly brotli?: Uint8Array<ArrayBuffer>
  /** Its name changes with its content, so that browsers may keep it for good. */
  readonly immutable: boolean
  /** A stand-in for something that is still being made: 503, and the browser soon asks again. */
  readonly pending?: true
}

/** Pages that the gateway serves beside its APIs, under headers that keep everything else out. */
export interface Site {
  /** Where it begins, without a slash at the end: `/console`. */
  readonly mount: `/${string}`
  /**
   * The file at a path below the mount, without the slash before it; the page itself is ''. A path
   * that only the page understands gets the page; `undefined` is a 404.
   */
  find(path: string): SiteFile | undefined | Promise<SiteFile | undefined>
}
