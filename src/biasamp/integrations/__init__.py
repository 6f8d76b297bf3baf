"""Each tool's own idiom: imported only by those who use the tool."""
