/** What a page is sent as. */
export const PAGE_MEDIA_TYPE = "text/html; charset=utf-8"
