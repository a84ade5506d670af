declare module '*.sql' {
  const text: string
  export default text
}

declare module '*.md' {
  const text: string
  export default text
}

/** Files of the page of the API's documentation, imported as paths. */
declare module 'swagger-ui-dist/*' {
  const path: string
  export default path
}
