"""The report: one HTML file that shows a comparison, without a network."""

from supred.app.report.page import write_report

__all__ = ["write_report"]
