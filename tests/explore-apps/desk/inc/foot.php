</body></html>
