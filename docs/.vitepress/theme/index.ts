/** The default theme with the fonts of the system, because its own fonts are half of the site's bytes. */
export { default } from 'vitepress/theme-without-fonts'
